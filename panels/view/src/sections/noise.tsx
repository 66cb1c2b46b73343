import React from "react";
import { countText, plain } from "../format";
import { Card } from "../look/card";
import { Plot } from "../look/plot";
import type { LibraryFigure } from "../look/plot";
import { Ranked } from "../look/ranked";
import { Sortable } from "../look/table";
import type { Column } from "../look/table";
import { Finding, Note, StepButton } from "../look/text";
import { nameColumn, numberColumn } from "../look/value";
import { Wide } from "../look/wide";
import { Box, ButtonBase, Stack } from "../mui";
import { FOCUS } from "../look/styles";
import { Paged } from "./paged";
import type { Shown } from "./paged";
import type { SectionProps } from "./section";

/** `panels/data/noise.py` */
type Counts = Record<string, number>;
type Row = Record<string, string>;
type Event = { kind: string; label: string; outcomes: Counts };
type Events = {
  title: string;
  fidelity: string;
  over: string;
  events: Event[];
  outcomes: Record<string, string>;
  stages: string[];
  rows: Row[];
  images: number;
};
type Images = { title: string; labels: Record<string, string>; images: { sample_id: string; file: string; changed: number; events: Counts }[] };
type Rater = { field: string; reference: string; magnitude: number; annotations: number; events: Counts };
type Raters = { labels: Record<string, string>; raters: Rater[] };
type Fidelity = { title: string; figure: LibraryFigure | null; quantities: Row[]; tests: Row[] };
type Loss = { figure: LibraryFigure; rows: Row[] };
type Used = { facts: Record<string, string>; origins: Row[] };
type Sent =
  | Shown<"Events", Events>
  | Shown<"Images", Images>
  | Shown<"Raters", Raters>
  | Shown<"Fidelity", Fidelity>
  | Shown<"Loss", Loss>
  | Shown<"Used", Used>;
type Acts = Pick<SectionProps<Sent>, "act">;

/** Changes by synthetic raters, and whether these raters differ as the real ones do. */
export function Noise(props: SectionProps<Sent>) {
  return (
    <Paged section="Noise" of={props}>
      {({ record, act }) => {
        switch (record.page) {
          case "Events": return <EventsPage of={record.shown} act={act} />;
          case "Images": return <ImagesPage of={record.shown} act={act} />;
          case "Raters": return <RatersPage of={record.shown} act={act} />;
          case "Fidelity": return <FidelityPage of={record.shown} />;
          case "Loss": return <LossPage of={record.shown} />;
          case "Used": return <UsedPage of={record.shown} />;
        }
      }}
    </Paged>
  );
}

/** Columns of text from the library. */
function texts(titles: Record<string, string>): Column<Row>[] {
  return Object.entries(titles).map(([key, title]) => nameColumn(key, title, (row) => row[key] ?? ""));
}

const keyOf = (row: Row) => Object.values(row).join("|");
const STAGES = texts({ stage: "Stage", done: "Done", lost: "Too late", impossible: "Impossible", share: "Share too late" });

function EventsPage({ of, act }: { of: Events } & Acts) {
  const columns: Column<Event>[] = [
    { key: "label", title: "Event", show: ({ label }) => label },
    ...Object.entries(of.outcomes).map(([outcome, hover]): Column<Event> => ({
      key: outcome,
      title: outcome,
      hover,
      by: ({ outcomes }) => outcomes[outcome] ?? 0,
      show: ({ kind, label, outcomes }) => (
        <CountButton count={outcomes[outcome] ?? 0} label={`${label}, ${outcome}`} onClick={() => act("event", { kind, outcome })} />
      ),
      isNumber: true,
    })),
  ];
  return (
    <Stack spacing={1}>
      <Finding>{of.title}</Finding>
      {of.fidelity && <Note>{of.fidelity}</Note>}
      <Note>{of.over}</Note>
      <Stack direction="row" gap={1}>
        <StepButton onClick={() => act("again")}>New run</StepButton>
        {of.images > 0 && <StepButton onClick={() => act("changed")}>Most events first</StepButton>}
      </Stack>
      <Card title="Events: click a number to see these labels, and their originals in the reference">
        <Sortable label="Events" rows={of.events} columns={columns} keyOf={({ kind }) => kind} />
      </Card>
      <Card title="Stages in order: click a row to see these labels">
        <Sortable label="Stages" rows={of.rows} columns={STAGES} keyOf={keyOf}
          onClick={(row) => act("stage", { name: of.stages[of.rows.indexOf(row)] })} />
      </Card>
    </Stack>
  );
}

/** A count, as a button that shows what it counts. */
function CountButton({ count, label, onClick }: { count: number; label: string; onClick: () => void }) {
  if (!count) return <>0</>;
  return (
    <ButtonBase onClick={onClick} aria-label={`${label}: ${countText(count)}`} sx={{ ...FOCUS, font: "inherit", px: 0.75, borderRadius: 0.5, textDecoration: "underline", "&:hover": { bgcolor: "action.hover" } }}>
      {countText(count)}
    </ButtonBase>
  );
}

function ImagesPage({ of: { title, labels, images }, act }: { of: Images } & Acts) {
  const rows = images.map(({ sample_id, file, changed, events }) => ({
    key: sample_id,
    name: file,
    value: changed,
    text: countText(changed),
    title: Object.entries(events).filter(([, count]) => count).map(([kind, count]) => `${labels[kind] ?? kind} ${countText(count)}`).join(", "),
  }));
  return (
    <Card title={images.length ? `${title}: click one to open it` : title}>
      <Ranked rows={rows} domain={[0, Math.max(1, ...rows.map(({ value }) => value))]} onClick={(sample) => act("open", { sample })} />
    </Card>
  );
}

function RatersPage({ of: { labels, raters }, act }: { of: Raters } & Acts) {
  const columns: Column<Rater>[] = [
    nameColumn("field", "Rater (field)", ({ field }) => field),
    nameColumn("reference", "From", ({ reference }) => reference),
    numberColumn("magnitude", "Strength (λ)", ({ magnitude }) => magnitude, String),
    numberColumn("annotations", "Labels", ({ annotations }) => annotations, countText),
    ...Object.entries({ ...labels, lost: "too late" }).map(([kind, title]) =>
      numberColumn<Rater>(kind, title, ({ events }) => events[kind], countText)),
  ];
  return (
    <Card title="Events of each rater: click a row to see what they changed">
      <Wide least={4} label="Synthetic raters" rows={raters} columns={columns} keyOf={({ field }) => field} onClick={({ field }) => act("rater", { field })} />
    </Card>
  );
}

const QUANTITIES = texts({ quantity: "Quantity", real: "Real raters [95 %]", generated: "Generated", inside: "Inside" });
const TESTS = texts({ test: "Test", model: "Rate", statistic: "Value", p: "p", note: "Says" });

function FidelityPage({ of: { title, figure, quantities, tests } }: { of: Fidelity }) {
  if (!figure) return <Finding>{title}</Finding>;
  return (
    <Stack spacing={1}>
      <Plot figure={figure} height={260} />
      <Card title="Quantities of generated and of real raters">
        <Sortable label="Quantities" rows={quantities} columns={QUANTITIES} keyOf={keyOf} />
      </Card>
      <Card title="Tests of the number of unmatched annotations">
        <Sortable label="Tests" rows={tests} columns={TESTS} keyOf={keyOf} />
      </Card>
    </Stack>
  );
}

const LOSSES = texts({ magnitude: "Strength (λ)", here: "Too late here", paper: "Too late in the paper" });

function LossPage({ of: { figure, rows } }: { of: Loss }) {
  return (
    <Stack spacing={1}>
      <Plot figure={figure} height={260} />
      <Card title="Changes that came too late, compared with Table 3 of the paper">
        <Sortable label="Changes that came too late" rows={rows} columns={LOSSES} keyOf={keyOf} />
      </Card>
    </Stack>
  );
}

const ORIGINS = texts({ distribution: "Distribution", source: "From", reason: "Why" });

function UsedPage({ of: { facts, origins } }: { of: Used }) {
  return (
    <Stack spacing={1}>
      <Card title="Settings of the synthetic raters">
        {Object.entries(facts).map(([name, value]) => (
          <Box key={name} sx={{ fontSize: 13 }}><Box component="span" color="text.secondary">{name}: </Box>{plain(value)}</Box>
        ))}
      </Card>
      <Card title="Origin of each distribution of the model">
        <Sortable label="Distributions" rows={origins} columns={ORIGINS} keyOf={keyOf} />
      </Card>
    </Stack>
  );
}
