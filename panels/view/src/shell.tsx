import React, { useEffect, useRef, useState } from "react";
import type { KeyboardEvent } from "react";
import { useAnswer } from "./answers";
import type { Shown } from "./answers";
import type { PanelProps } from "./app";
import { AskContext, useAsk } from "./ask";
import type { Ask } from "./ask";
import { useChosen } from "./chosen";
import { Header } from "./header";
import { Failed, Loading } from "./look/states";
import { Alert, Box } from "./mui";
import { WHOLE } from "./records";
import type { Filter, Frame, Grid, Led } from "./records";
import { VIEWS } from "./sections";
import { Changed, Invited } from "./sections/around";
import type { Pages } from "./sections/section";
import { Start } from "./start";

/** Data of the panel, as text because the App merges new objects into old ones but replaces text. */
type WorkbenchData = { frame: string; changed: string; dataset: string; view: string };

/** Most steps of *Back*. */
const STEPS_BACK = 20;

/** Call `take` with each new value, but not with the initial one. */
function useNews(text: string | undefined, take: (text: string) => void) {
  const last = useRef(text);
  useEffect(() => {
    if (text === undefined || text === last.current) return;
    last.current = text;
    take(text);
  });
}

/** Keep Enter from the App, which would otherwise handle it before a button does. */
function keepEnter(event: KeyboardEvent) {
  if (event.key === "Enter") event.stopPropagation();
}

/** Panel *Raters*. */
export function Workbench({ data, schema }: PanelProps<WorkbenchData>) {
  const ask = useAsk(schema.view);
  const first = data?.frame;
  if (!first) return <Box sx={{ p: 1.5 }}><Loading /></Box>;
  return (
    <AskContext.Provider value={ask}>
      <Box onKeyDown={keepEnter} sx={{ height: "100%" }}>
        <Open ask={ask} first={JSON.parse(first) as Frame | { problem: string }} data={data} />
      </Box>
    </AskContext.Provider>
  );
}

type OpenProps = { ask: Ask; first: Frame | { problem: string }; data: Partial<WorkbenchData> };

function Open({ ask, first, data }: OpenProps) {
  const given = "problem" in first ? null : first;
  const [frame, setFrame] = useState<Frame | null>(given);
  const [problem, setProblem] = useState("problem" in first ? first.problem : "");
  const [notice, setNotice] = useState("");
  const [grids, setGrids] = useState<Grid[]>([]);
  const pages = useRef<Pages>(new Map()).current;
  const [chosen, choose] = useChosen({
    analysis: given?.analysis ?? null,
    section: given?.section ?? null,
    filter: given?.filter ?? WHOLE,
  });
  const name = chosen.section ?? frame?.section;
  const section = frame?.sections.find((one) => one.name === name) ?? frame?.sections[0];
  const filter = chosen.filter;
  const { shown, prepare, forget } = useAnswer(ask, { frame, section, filter, view: data.view ?? "" });

  const frameAnew = (params: object) =>
    ask<Frame>("frame", params)
      .then((next) => {
        setProblem("");
        setFrame(next);
        choose({ analysis: next.analysis, section: next.section, filter: next.filter });
        forget();
      })
      .catch((error: Error) => setProblem(error.message));
  const known = frame?.analyses.map(([one]) => one);
  const again = (named?: string | null) =>
    frameAnew({ analysis: frame?.analysis, section: named ?? section?.name, filter, known });

  const go = (to: string, part: Partial<Filter> = {}) => choose({ section: to, filter: { ...filter, ...part } });
  const push = (grid: Grid | null | undefined) => {
    if (grid) setGrids((before) => [...before, grid].slice(-STEPS_BACK));
  };
  const act = (click: string, params: object = {}, done?: () => void) => {
    setNotice("");
    ask<Led>("act", { section: section?.name, click, given: params, analysis: frame?.analysis, filter })
      .then(({ grid, said }) => {
        push(grid);
        setNotice(said);
        done?.();
      })
      .catch((error: Error) => setNotice(error.message));
  };
  const back = () => {
    const last = grids[grids.length - 1];
    if (!last) return;
    setGrids(grids.slice(0, -1));
    ask("back", { before: last.before }).catch((error: Error) => setNotice(error.message));
  };

  useNews(data.changed, (text) => void again((JSON.parse(text) as { section: string | null }).section));
  useNews(data.dataset, (dataset) => {
    if (dataset === frame?.dataset) return;
    setGrids([]);
    void frameAnew({});
  });
  if (problem) return <Box sx={{ p: 1.5 }}><Failed problem={problem} onRetry={() => void again()} /></Box>;
  if (!frame) return <Box sx={{ p: 1.5 }}><Loading /></Box>;
  if (frame.start) return <Box sx={{ p: 1.5 }}><Start start={frame.start} /></Box>;
  return (
    <Box data-cy="kalos-raters" sx={{ height: "100%", display: "flex", flexDirection: "column", color: "text.primary" }}>
      <Header
        frame={frame}
        section={section}
        filter={filter}
        grid={grids[grids.length - 1] ?? null}
        steps={grids.length}
        onFilter={(next) => choose({ filter: next })}
        onAnalysis={(analysis) => void frameAnew({ analysis, section: section?.name, remembers: true })}
        onSection={go}
        onNear={prepare}
        onBack={back}
      />
      <Box component="main" aria-label={section?.title} sx={{ flex: 1, overflow: "auto", px: 1.5, pb: 1, pt: 0.25 }}>
        {notice && <Alert severity="warning" onClose={() => setNotice("")} sx={{ mb: 1, py: 0 }}>{notice}</Alert>}
        <Body
          shown={shown}
          onRetry={() => void again()}
          section={{ frame, filter, act, go, pages }}
        />
      </Box>
    </Box>
  );
}

type BodyProps = {
  shown: Shown | null;
  onRetry: () => void;
  section: {
    frame: Frame;
    filter: Filter;
    act: (click: string, given?: object, done?: () => void) => void;
    go: (section: string, filter?: Partial<Filter>) => void;
    pages: Pages;
  };
};

function Body({ shown, onRetry, section }: BodyProps) {
  if (shown?.problem) return <Failed problem={shown.problem} onRetry={onRetry} />;
  const answer = shown?.answer;
  if (!answer) return <Loading />;
  const View = VIEWS[answer.name];
  return (
    <>
      <Changed changed={answer.changed} />
      {answer.invitation ? (
        <Invited {...answer.invitation} />
      ) : (
        View && <View record={answer.record as never} {...section} />
      )}
    </>
  );
}
