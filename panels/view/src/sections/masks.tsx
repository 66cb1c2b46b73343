import React from "react";
import { alphaText, percentText, significantText } from "../format";
import type { Maybe } from "../format";
import { Card } from "../look/card";
import { Menu } from "../look/menu";
import { Plot } from "../look/plot";
import type { LibraryFigure } from "../look/plot";
import { Empty } from "../look/states";
import { Sortable } from "../look/table";
import type { Column } from "../look/table";
import { Finding, Note, Reading, StepButton } from "../look/text";
import { nameColumn, numberColumn, valueColumn } from "../look/value";
import type { Value } from "../look/value";
import { Wide } from "../look/wide";
import { Stack } from "../mui";
import { entriesOf, Paged } from "./paged";
import type { Chooses, Shown } from "./paged";
import type { SectionProps } from "./section";

/** Sent by `panels/data/masks.py`; `apart` is how far a rater differs from the others, 1 − F1. */
export type Shares = Record<string, Maybe>;
type Rater = { name: string; stands_out: boolean; apart: Maybe; shares: Shares };
type Raters = {
  title: string;
  over: string;
  category: string;
  categories: string[];
  raters: Rater[];
  performance: string;
  tree: LibraryFigure | null;
};
type PixelImage = { sample_id: string; file: string; f1: Maybe; bound: Maybe };
type Images = {
  category: string;
  categories: string[];
  images: PixelImage[];
  bound: string;
  ratio: LibraryFigure;
  properties: LibraryFigure | null;
};
type PairRow = { names: string[]; values: Record<string, Value>; sample: string | null };
/** Without a title the run did not compare every two raters so; `reading` says how one does. */
type NotCompared = { name: string; reading: string };
type Compared = {
  name: string;
  title: string;
  over: string;
  reading: string;
  formula: string;
  worst: string;
  classes: PairRow[];
  pairs: PairRow[];
  images: PairRow[];
};
type Sent = Shown<"Raters", Raters> | Shown<"Images", Images> | Shown<"Boundaries" | "Divisions", Compared | NotCompared>;
type Acts = Pick<SectionProps<Sent>, "act">;

/** How far raters agree about pixels, who stands out, and on which images. */
export function Masks(props: SectionProps<Sent>) {
  return (
    <Paged section="Masks" of={props}>
      {({ record, act, choose }) => {
        if (record.page === "Raters") return <RatersPage of={record.shown} act={act} choose={choose} />;
        if (record.page === "Images") return <ImagesPage of={record.shown} act={act} choose={choose} />;
        return <PairedPage of={record.shown} act={act} />;
      }}
    </Paged>
  );
}

const three = (value: number) => alphaText(value, 3);

/** What is known of a rater against a consensus of pixels. */
export const SHARES: readonly (readonly [string, string, string])[] = [
  ["sensitivity", "Finds", "Share of what is true that they marked (sensitivity)"],
  ["ppv", "Is right", "Share of what they marked that is true (positive predictive value)"],
  ["kappa", "Beyond chance (κ)", "Agreement with the consensus beyond chance"],
  ["specificity", "Leaves out rightly", "Share of what is not true that they left unmarked (specificity)"],
  ["npv", "Rightly unmarked", "Share of what they left unmarked that is not true (negative predictive value)"],
];

export function shareColumns<Row>(of: (row: Row) => Shares, shown = SHARES): Column<Row>[] {
  return shown.map(([key, title, hover]) => ({ ...numberColumn<Row>(key, title, (row) => of(row)[key], three), hover }));
}

const RATERS: Column<Rater>[] = [
  nameColumn("name", "Rater", ({ name }) => name),
  { key: "out", title: "Stands out", show: ({ stands_out }) => (stands_out ? "yes" : ""), by: ({ stands_out }) => Number(!stands_out) },
  { ...numberColumn<Rater>("apart", "Differs", ({ apart }) => apart, three), hover: "1 − F1, mean over the other raters" },
  ...shareColumns<Rater>(({ shares }) => shares),
];

function Classes({ category, categories, choose }: { category: string; categories: string[] } & Chooses) {
  return <Menu label="Class" chosen={category} entries={entriesOf(categories)} onChoose={(name) => choose({ category: name })} />;
}

function RatersPage({ of, act, choose }: { of: Raters } & Acts & Chooses) {
  return (
    <Stack spacing={1}>
      <Finding>{of.title}</Finding>
      <Note>{of.over}</Note>
      <Stack direction="row" gap={1}>
        <StepButton onClick={() => act("again")}>New run</StepButton>
        <Classes {...of} choose={choose} />
      </Stack>
      {of.raters.length > 0 ? (
        <Card title={`${of.performance}: click a rater to see their images`}>
          <Wide least={5} label="Raters" rows={of.raters} columns={RATERS} keyOf={({ name }) => name} onClick={({ name }) => act("rater", { name })}
            first={{ key: "apart", descending: true }} />
        </Card>
      ) : <Note>Raters without names over the images cannot stand out: see Images.</Note>}
      {of.tree && <Plot figure={of.tree} height={260} />}
    </Stack>
  );
}

const IMAGES: Column<PixelImage>[] = [
  nameColumn("file", "Image", ({ file }) => file),
  numberColumn("f1", "Shared (F1)", ({ f1 }) => f1, three),
  numberColumn("bound", "Least error (Smyth)", ({ bound }) => bound, percentText),
];

function ImagesPage({ of, act, choose }: { of: Images } & Acts & Chooses) {
  return (
    <Stack spacing={1}>
      <Classes {...of} choose={choose} />
      <Card title="Images with the least agreement: click one to open it">
        <Sortable label="Images" rows={of.images} columns={IMAGES} keyOf={(row) => row.sample_id} onClick={(row) => act("open", { sample: row.sample_id })} />
        <Note>{of.bound}</Note>
      </Card>
      <Plot figure={of.ratio} height={260} />
      {of.properties && <Plot figure={of.properties} height={260} />}
    </Stack>
  );
}

/** Measure -> its column and how its values are written. */
const MEASURES: Record<string, [string, (value: Maybe) => string]> = {
  average: ["Apart on average", significantText],
  hausdorff95: ["95 % within", significantText],
  surface_dice: ["Within tolerance", percentText],
  adjusted_rand: ["Alike (adjusted Rand)", alphaText],
  variation_of_information: ["Unknown (bits)", significantText],
  covering: ["Covered", percentText],
};

const NOTHING: Value = { value: null, low: null, high: null, reason: "–" };

function pairColumns(rows: PairRow[], titles: string[]): Column<PairRow>[] {
  const measures = Object.keys(rows[0]?.values ?? {});
  return [
    ...titles.map((title, place) => nameColumn<PairRow>(title, title, ({ names }) => names[place] ?? "")),
    ...measures.map((name) => {
      const [title, show] = MEASURES[name] ?? [name, significantText];
      return valueColumn<PairRow>(name, title, ({ values }) => values[name] ?? NOTHING, (value) => show(value));
    }),
  ];
}

function PairedPage({ of, act }: { of: Compared | NotCompared } & Acts) {
  if (!("title" in of)) return <Empty title={`The run did not compare ${of.name}`} text={of.reading} steps={[{ label: "New run", onClick: () => act("again") }]} />;
  const { name, title, over, reading, formula, worst, classes, pairs, images } = of;
  const keyOf = ({ names, sample }: PairRow) => sample ?? names.join("|");
  return (
    <Stack spacing={1}>
      <Finding>{title}</Finding>
      <Note>{over}</Note>
      <Reading formula={formula}>{reading}</Reading>
      <Stack direction="row"><StepButton onClick={() => act("worst", { name })}>{`Show the ${worst}`}</StepButton></Stack>
      {classes.length > 0 && (
        <Card title="By class"><Sortable label="By class" rows={classes} columns={pairColumns(classes, ["Class"])} keyOf={keyOf} /></Card>
      )}
      {pairs.length > 0 && (
        <Card title="Every two raters"><Sortable label="Every two raters" rows={pairs} columns={pairColumns(pairs, ["Rater", "and"])} keyOf={keyOf} /></Card>
      )}
      <Card title={`Images with ${worst}: click one to open it`}>
        <Sortable label="Images" rows={images} columns={pairColumns(images, ["Image"])} keyOf={keyOf} onClick={({ sample }) => act("open", { sample })} />
      </Card>
    </Stack>
  );
}
