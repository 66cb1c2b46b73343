import React from "react";
import { alphaText, countText, percentText, plain } from "../format";
import type { Maybe } from "../format";
import { Card } from "../look/card";
import { Heat } from "../look/heat";
import type { LibraryMatrix } from "../look/heat";
import { Menu } from "../look/menu";
import { Ranked } from "../look/ranked";
import { Sortable } from "../look/table";
import type { Column } from "../look/table";
import { Finding, Note, StepButton } from "../look/text";
import { nameColumn, numberColumn, titleOf } from "../look/value";
import type { Value } from "../look/value";
import { Wide } from "../look/wide";
import { Alert, Box, Stack } from "../mui";
import { shareColumns, SHARES } from "./masks";
import type { Shares } from "./masks";
import { entriesOf, Paged } from "./paged";
import type { Chooses, Shown } from "./paged";
import type { SectionProps } from "./section";

/** Sent by `panels/data/truth.py`. For pixels: true pixels, images without any, and kappas of raters; other numbers for objects. */
type Consensus = {
  name: string;
  said: string;
  pixels?: Maybe;
  empty?: Maybe;
  images?: Maybe;
  least_kappa?: Maybe;
  most_kappa?: Maybe;
  objects?: Maybe;
  below?: Maybe;
  tied?: Maybe;
  score?: Maybe;
};
type Against = { rater: string; shares: Shares };
type Estimate = {
  title: string;
  text: string;
  warnings: string[];
  skills: { rater: string; skill: Value }[];
  rater: string;
  raters: string[];
  confusion: LibraryMatrix;
};
type Found = {
  title: string;
  over: string;
  of_pixels: boolean;
  consensus: string;
  consensuses: Consensus[];
  against: string;
  note: string;
  raters: Against[];
  estimate: Estimate | null;
  notes: string[];
};
type Sent = Shown<"Truth", Found>;
type Acts = Pick<SectionProps<Sent>, "act">;

/** Estimates of the ground truth by each method, and each rater against an estimate. */
export function Truth(props: SectionProps<Sent>) {
  return (
    <Paged section="Truth" of={props}>
      {({ record: { shown }, act, choose }) => <TruthPage of={shown} act={act} choose={choose} />}
    </Paged>
  );
}

function consensusColumns(chosen: string, ofPixels: boolean): Column<Consensus>[] {
  const name: Column<Consensus> = {
    key: "name",
    title: "Estimate",
    show: (row) => <Box component={row.name === chosen ? "strong" : "span"} title={row.said}>{[row.name, row.said].filter(Boolean).join(": ")}</Box>,
    by: (row) => row.name,
  };
  if (!ofPixels) {
    return [
      name,
      numberColumn("objects", "Objects", ({ objects }) => objects, countText),
      numberColumn("below", "Left out", ({ below }) => below, countText),
      numberColumn("tied", "Tied class", ({ tied }) => tied, countText),
      numberColumn("score", "Mean score", ({ score }) => score, (value) => alphaText(value, 3)),
    ];
  }
  return [
    name,
    numberColumn("pixels", "Pixels", ({ pixels }) => pixels, countText),
    { key: "empty", title: "Images without any", show: ({ empty, images }) => `${countText(empty ?? 0)} of ${countText(images ?? 0)}`, by: ({ empty }) => empty ?? null, isNumber: true },
    {
      key: "kappa",
      title: "Raters, beyond chance (κ)",
      show: ({ least_kappa, most_kappa }) => (least_kappa == null ? "undefined" : `${alphaText(least_kappa, 3)} to ${alphaText(most_kappa, 3)}`),
      by: ({ least_kappa }) => least_kappa ?? null,
      isNumber: true,
    },
  ];
}

const NAME: Column<Against> = nameColumn("rater", "Rater", ({ rater }) => rater);
const PIXELS: Column<Against>[] = [
  NAME,
  ...shareColumns<Against>(({ shares }) => shares, [...SHARES, ["kept", "Kept", "Share of the images in which the method keeps them"]]),
];
const OBJECTS: Column<Against>[] = [
  NAME,
  ...shareColumns<Against>(({ shares }) => shares, [["sensitivity", "Objects found", ""], ["ppv", "Annotations that are objects", ""]]),
];

function TruthPage({ of, act, choose }: { of: Found } & Acts & Chooses) {
  const { title, over, of_pixels, consensus, consensuses, against, note, raters, estimate, notes } = of;
  return (
    <Stack spacing={1}>
      <Finding>{title}</Finding>
      <Note>{over}</Note>
      <Stack direction="row" gap={1}>
        <StepButton onClick={() => act("again")}>New run</StepButton>
        {!of_pixels && !estimate && <StepButton onClick={() => act("estimate")}>Estimate who is right</StepButton>}
        {estimate && <StepButton onClick={() => act("least_sure")}>Least sure images</StepButton>}
      </Stack>
      <Card title="Click a row to compare raters with it">
        <Sortable label="Estimates of the truth" rows={consensuses} columns={consensusColumns(consensus, of_pixels)}
          keyOf={({ name }) => name} onClick={({ name }) => choose({ consensus: name })} />
      </Card>
      <Card title={against}>
        {note && <Note>{note}</Note>}
        {raters.length > 0 && <Wide least={4} label={`Raters against ${plain(consensus)}`} rows={raters} columns={of_pixels ? PIXELS : OBJECTS} keyOf={({ rater }) => rater} />}
      </Card>
      {estimate && <EstimatePart of={estimate} consensus={consensus} act={act} choose={choose} />}
      {notes.length > 0 && <Card title="Notes">{notes.map((text) => <Note key={text}>{text}</Note>)}</Card>}
    </Stack>
  );
}

function EstimatePart({ of, consensus, act, choose }: { of: Estimate; consensus: string } & Acts & Chooses) {
  const rows = of.skills.map(({ rater, skill }) => ({
    key: rater, name: rater, value: skill.value, interval: [skill.low, skill.high] as const, text: percentText(skill.value), title: titleOf(skill),
  }));
  return (
    <>
      <Card title={`${of.title}: click a rater to see what they annotated differently or missed`}>
        <Note>{of.text}</Note>
        {of.warnings.map((warning) => <Alert key={warning} severity="warning" sx={{ py: 0 }}>{warning}</Alert>)}
        <Ranked rows={rows} domain={[0, 1]} onClick={(name) => act("rater", { name, consensus })} />
      </Card>
      <Menu label="Rater" chosen={of.rater} entries={[["", "All raters"], ...entriesOf(of.raters)]} onChoose={(name) => choose({ rater: name })} />
      <Heat of={of.confusion} show={percentText} />
    </>
  );
}
