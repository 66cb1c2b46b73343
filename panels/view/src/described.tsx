import React, { useMemo, useRef } from "react";
import { OperatorIO, types } from "./app";
import { useAsking } from "./ask";
import { Box } from "./mui";
import type { DescribedAnswer, DescribedState } from "./records";

type DescribedProps = {
  answer: DescribedAnswer;
  onAnswer: (answer: DescribedAnswer) => void;
  onProblem: (problem: string) => void;
  onTyped: (state: DescribedState) => void;
};

/** A section that Python describes, drawn by the App's own renderer; it goes as soon as React draws all of them. */
export function Described({ answer, onAnswer, onProblem, onTyped }: DescribedProps) {
  const ask = useAsking();
  const typed = useRef<object>({});
  const schema = useMemo(() => answer.schema && types.Property.fromJSON(answer.schema), [answer.schema]);
  const data = useMemo(() => ({ ...answer.state, ...answer.data }), [answer]);
  if (!schema) return null;
  const send = (path: string, value: unknown, { onChange }: { onChange?: string }, state: object) => {
    if (!onChange) return;
    const event = onChange.split("#")[1];
    ask<DescribedAnswer>("event", { event, path, value, state: { ...answer.state, ...state } })
      .then(onAnswer)
      .catch((error: Error) => onProblem(error.message));
  };
  const write = (state: object) => {
    typed.current = { ...typed.current, ...state };
    onTyped({ ...answer.state, ...typed.current });
  };
  return (
    <Box sx={{ mx: -2 }}>
      <OperatorIO schema={schema} data={data} onChange={write} onPathChange={send} layout={{}} />
    </Box>
  );
}
