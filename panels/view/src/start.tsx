import React from "react";
import { useAsking } from "./ask";
import { plain } from "./format";
import { Empty } from "./look/states";
import { FOCUS } from "./look/styles";
import { Alert, Button, Stack } from "./mui";
import type { Start as Found } from "./records";

const WHAT_FOR =
  "Analyse matches the annotations of different raters for the same object, computes how much the raters agree about " +
  "existence, class and place, names each difference, and estimates the ceiling of any model.";

/** Start page without an analysis: the raters found, the first step, and unreadable runs. */
export function Start({ start }: { start: Found }) {
  return (
    <Stack spacing={1}>
      <FirstStep start={start} />
      {start.unreadable.map((run) => <Unreadable key={run.key} run={run} />)}
    </Stack>
  );
}

function Unreadable({ run: { key, reason } }: { run: Found["unreadable"][number] }) {
  const ask = useAsking();
  const remove = () => void ask("prompt", { operator: "delete_run", given: { run_key: key } });
  return (
    <Alert severity="warning" action={<Button color="inherit" size="small" onClick={remove} sx={FOCUS}>Delete</Button>}>
      {`The run ${plain(key)} cannot be read: ${plain(reason, Infinity)}. Delete it, and analyse again under the same key.`}
    </Alert>
  );
}

function FirstStep({ start: { found, given } }: { start: Found }) {
  const ask = useAsking();
  const analyse = { label: "Analyse", onClick: () => void ask("prompt", { operator: "analyse", given }) };
  const load = { label: "Load labels", onClick: () => void ask("prompt", { operator: "load_raters" }) };
  if (!found.length) {
    const title = "No labels of several raters were found in this data set.";
    return <Empty title={title} text="Load them from files, or from fields with other names." steps={[load]} />;
  }
  return <Empty title={`Found: ${found.map((one) => plain(one)).join("; ")}.`} text={WHAT_FOR} steps={[analyse, load]} />;
}
