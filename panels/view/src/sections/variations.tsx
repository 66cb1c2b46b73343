import React, { useCallback, useState } from "react";
import { alphaText, countText, plain } from "../format";
import type { Counted, Difference } from "../look/alphas";
import { Card } from "../look/card";
import { Heading } from "../look/heading";
import { Histogram } from "../look/histogram";
import { More } from "../look/more";
import { Name } from "../look/name";
import { DISTANCES, Paired } from "../look/paired";
import type { PairedRecord } from "../look/paired";
import { Ranked } from "../look/ranked";
import { RatesTable } from "../look/rates";
import type { Rated, RateName } from "../look/rates";
import { Reading } from "../look/reading";
import type { Caption } from "../look/reading";
import { Segmented } from "../look/segmented";
import { Empty } from "../look/states";
import { grid } from "../look/styles";
import { Sortable } from "../look/table";
import type { Column } from "../look/table";
import { Alert, Box, Stack } from "../mui";
import { Attributes } from "./attributes";
import type { Attribute } from "./attributes";
import type { SectionProps } from "./section";

/** `panels/data/variations.py` */
/** `MergedFinding` of the bridge. */
type Whole = {
  finding: number;
  sample_id: string;
  file: string;
  whole_rater: string;
  whole_category: string;
  parts_rater: string;
  parts_category: string;
  parts: number;
  similarity: number;
};
/** `BoundaryQuality` of the library. */
type Quality = { edges: number[]; counts: number[]; identical: number };
type Sent = {
  title: string;
  correct: number;
  kinds: Difference[];
  raters: Rated[];
  alarm: string;
  outlines: { title: string; caption: Caption; quality: Quality; in_pixels: PairedRecord | null };
  divided: { title: string; merged_by: Counted[]; split_by: Counted[]; rows: Whole[] };
  attributes: Attribute[];
};
type Props = SectionProps<Sent>;

type Page = "types" | "outlines" | "merged" | "attributes";
const PAGES: readonly (readonly [Page, string])[] = [
  ["types", "Types"], ["outlines", "Outlines"], ["merged", "Merged"], ["attributes", "Attributes"],
];

/** Differences between raters: by type and rater, in outlines, in parts, and in attributes. */
export function Differences(props: Props) {
  const [page, setPage] = useState<Page>("types");
  const { record: { alarm, attributes }, act } = props;
  return (
    <Stack spacing={1}>
      <Box><Segmented label="Pages" choices={PAGES} chosen={page} onChoose={setPage} /></Box>
      {alarm && <Alert severity="warning" sx={{ py: 0 }} action={<More onClick={() => act("copies")}>Show them</More>}>{alarm}</Alert>}
      {page === "types" && <Types {...props} />}
      {page === "outlines" && <Outlines {...props} />}
      {page === "merged" && <Merged {...props} />}
      {page === "attributes" && <Attributes attributes={attributes} act={act} />}
    </Stack>
  );
}

function Types({ record: { title, correct, kinds, raters }, frame, act }: Props) {
  const rows = kinds.map(({ name, value, title: text }) => ({
    key: name, name: text, value, text: countText(value), colour: frame.colours.variations[name === "unmatched" ? "missing" : name],
  }));
  const onRate = useCallback((rater: string, kind: RateName) => act("rate", { rater, kind }), [act]);
  return (
    <>
      <Card title={title} action={<More onClick={() => act("kind", { name: "correct" })}>{countText(correct)} correct</More>}>
        <Ranked rows={rows} names={40} domain={[0, Math.max(1, ...kinds.map(({ value }) => value))]} onClick={(name) => act("kind", { name })} />
      </Card>
      <Card title="How often each rater differs, per object: click a number to see the labels">
        <RatesTable rows={raters} onRate={onRate} />
      </Card>
    </>
  );
}

function Outlines({ record: { outlines, alarm }, act }: Props) {
  const { title, caption, quality: { edges, counts, identical }, in_pixels } = outlines;
  const onClick = (bin: number) => act("apart", { low: edges[bin], high: edges[bin + 1] });
  const compare = () => act("agree", { boundaries: true });
  return (
    <>
      <Card title={title} action={identical > 0 && !alarm && <More onClick={() => act("copies")}>identical ones</More>}>
        <Reading of={caption} />
        <Histogram label="Correct findings by the distance of their outlines, 1 − similarity" edges={edges} counts={counts}
          show={(edge) => alphaText(edge)} onClick={onClick} />
      </Card>
      {in_pixels ? (
        <Paired record={in_pixels} measures={DISTANCES} worst="the largest outline distances"
          reading={DISTANCES_READ} onWorst={() => act("furthest")} onImage={(sample) => act("open", { sample })} />
      ) : (
        <Empty title="How far apart are they in pixels?"
          text="Agreement did not compare boundaries. For polygons or instance masks, a new run computes the distances between outlines of the same object, by raters, class and image."
          steps={[{ label: "Compare boundaries", onClick: compare }]} />
      )}
    </>
  );
}

const DISTANCES_READ: Caption = {
  read: "Objects that both raters annotated. Distances are in pixels, means over images with 95 % intervals.",
  formula:
    "Distances from every point of each boundary to the nearest point of the other. Apart on average: their mean (average " +
    "symmetric surface distance). 95 % within: the 95th percentile, the larger of both directions (Hausdorff 95). Within " +
    "tolerance: the share of both boundaries that is no further than the tolerance from the other (surface Dice, Nikolov et " +
    "al. 2018). Intervals: bootstrap over images.",
};

function Merged({ record: { divided: { title, merged_by, split_by, rows } }, act }: Props) {
  const most = Math.max(1, ...[...merged_by, ...split_by].map(({ value }) => value));
  const listed = (of: Counted[]) => of.map(({ name, value }) => ({ key: name, name, value, text: countText(value) }));
  const lead = (kind: RateName) => (rater: string) => act("rate", { rater, kind });
  if (!rows.length) return <Card title={title} />;
  return (
    <>
      <Card title={title} action={<More onClick={() => act("divided")}>in the grid</More>}>
        <Box sx={grid(205)}>
          <Box>
            <Heading>One annotation where others have several</Heading>
            <Ranked rows={listed(merged_by)} domain={[0, most]} onClick={lead("merges")} />
          </Box>
          <Box>
            <Heading>Several annotations where others have one</Heading>
            <Ranked rows={listed(split_by)} domain={[0, most]} onClick={lead("splits")} />
          </Box>
        </Box>
      </Card>
      <Card title="One annotation and its parts, on all images: click a row to open the image">
        <Sortable label="Wholes and their parts" rows={rows} columns={WHOLES} keyOf={({ finding }) => String(finding)}
          onClick={(row) => act("whole", { finding: row.finding, sample: row.sample_id })} />
      </Card>
    </>
  );
}

const WHOLES: Column<Whole>[] = [
  { key: "file", title: "Image", by: ({ file }) => file, show: ({ file }) => <Name of={file} /> },
  { key: "whole", title: "One annotation", by: ({ whole_rater }) => whole_rater, show: (row) => `${plain(row.whole_rater)}: ${plain(row.whole_category)}` },
  { key: "parts", title: "In parts", by: ({ parts_rater }) => parts_rater, show: (row) => `${plain(row.parts_rater)}: ${countText(row.parts)} × ${plain(row.parts_category)}` },
  { key: "similarity", title: "Similarity", by: ({ similarity }) => similarity, show: ({ similarity }) => alphaText(similarity, 3), isNumber: true },
];
