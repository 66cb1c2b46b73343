import React from "react";
import { alphaText, percentText, significantText } from "../format";
import type { Maybe } from "../format";
import { Card } from "../look/card";
import { Menu } from "../look/menu";
import { DISTANCES, Paired } from "../look/paired";
import type { Measure, PairedRecord } from "../look/paired";
import { Plot } from "../look/plot";
import type { LibraryFigure } from "../look/plot";
import type { Caption } from "../look/reading";
import { Empty } from "../look/states";
import { Sortable } from "../look/table";
import type { Column } from "../look/table";
import { Finding, Note, StepButton } from "../look/text";
import { nameColumn, numberColumn } from "../look/value";
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
type Sent = Shown<"Raters", Raters> | Shown<"Images", Images> | Shown<"Boundaries" | "Divisions", (PairedRecord & { caption: Caption }) | null>;
type Acts = Pick<SectionProps<Sent>, "act">;

/** Agreement of raters about pixels, outlying raters, and images with low agreement. */
export function Masks(props: SectionProps<Sent>) {
  return (
    <Paged section="Masks" of={props}>
      {({ record, act, choose }) => {
        if (record.page === "Raters") return <RatersPage of={record.shown} act={act} choose={choose} />;
        if (record.page === "Images") return <ImagesPage of={record.shown} act={act} choose={choose} />;
        return <PairedPage of={record.shown} how={PAIRED[record.page]} act={act} />;
      }}
    </Paged>
  );
}

const three = (value: number) => alphaText(value, 3);

/** Measures of a rater against a consensus of pixels: key, title, tooltip. */
export const SHARES: readonly (readonly [string, string, string])[] = [
  ["sensitivity", "Sensitivity", "Share of true pixels that the rater marked"],
  ["ppv", "Precision", "Share of the rater's marked pixels that are true (positive predictive value)"],
  ["kappa", "Beyond chance (κ)", "Agreement with the consensus beyond chance"],
  ["specificity", "Specificity", "Share of the other pixels that the rater left unmarked"],
  ["npv", "NPV", "Share of the rater's unmarked pixels that are not true (negative predictive value)"],
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
      ) : <Note>Raters without names across images cannot be compared; see Images.</Note>}
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
      <Card title="Images with the lowest agreement: click one to open it">
        <Sortable label="Images" rows={of.images} columns={IMAGES} keyOf={(row) => row.sample_id} onClick={(row) => act("open", { sample: row.sample_id })} />
        <Note>{of.bound}</Note>
      </Card>
      <Plot figure={of.ratio} height={260} />
      {of.properties && <Plot figure={of.properties} height={260} />}
    </Stack>
  );
}

type How = { name: string; worst: string; click: string; missing: string; measures: readonly Measure[] };

/** Page -> comparison of pairs of raters; `missing` is shown for a run without it. */
const PAIRED: Record<"Boundaries" | "Divisions", How> = {
  Boundaries: {
    name: "boundaries",
    worst: "the largest boundary distances",
    click: "furthest",
    missing: "Select Compare boundaries in a new run to see boundary distances in pixels, by pair of raters, class and image.",
    measures: DISTANCES,
  },
  Divisions: {
    name: "divisions",
    worst: "the least similar divisions",
    click: "least_alike",
    missing: "Select Compare divisions into regions in a new run to see how similar segmentations are, ignoring region names, by pair of raters and image.",
    measures: [
      { key: "adjusted_rand", title: "Similarity (adjusted Rand)", show: alphaText },
      { key: "variation_of_information", title: "Unknown (bits)", show: significantText },
      { key: "covering", title: "Covered", show: percentText },
    ],
  },
};

function PairedPage({ of, how, act }: { of: (PairedRecord & { caption: Caption }) | null; how: How } & Acts) {
  const { name, worst, click, missing, measures } = how;
  if (!of) return <Empty title={`The run did not compare ${name}`} text={missing} steps={[{ label: "New run", onClick: () => act("again") }]} />;
  return (
    <Stack spacing={1}>
      <Paired record={of} measures={measures} worst={worst} reading={of.caption} onWorst={() => act(click)} onImage={(sample) => act("open", { sample })} />
    </Stack>
  );
}
