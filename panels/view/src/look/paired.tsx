import React, { useMemo } from "react";
import { percentText, significantText } from "../format";
import type { Maybe } from "../format";
import { Box, Typography } from "../mui";
import { Card } from "./card";
import { More } from "./more";
import { Name } from "./name";
import { Reading } from "./reading";
import type { Caption } from "./reading";
import { Sortable } from "./table";
import type { Column } from "./table";

/** `panels/data/paired.py`: names, and each measure, with both ends of its interval as `<measure>_low` and `_high`. */
type Measured = Record<string, string | Maybe>;
export type PairedRecord = { title: string; over: string; classes: Measured[]; pairs: Measured[]; images: Measured[] };

export type Measure = { key: string; title: string; show: (value: number) => string };
/** Measures of the boundaries of pairs of raters. */
export const DISTANCES: readonly Measure[] = [
  { key: "average", title: "Apart on average", show: significantText },
  { key: "hausdorff95", title: "95 % within", show: significantText },
  { key: "surface_dice", title: "Within tolerance", show: percentText },
];

type Named = readonly (readonly [string, string])[];

const CLASS: Named = [["class", "Class"]];
const PAIR: Named = [["rater_a", "Rater"], ["rater_b", "and"]];
const IMAGE: Named = [["file", "Image"]];

type PairedProps = {
  record: PairedRecord;
  measures: readonly Measure[];
  /** Description of the worst images, after "Images with". */
  worst: string;
  reading: Caption;
  onWorst: () => void;
  onImage: (sample: string) => void;
};

/** Comparison of pairs of raters: overall, by class, by pair, and the worst images. */
export function Paired({ record, measures, worst, reading, onWorst, onImage }: PairedProps) {
  const byClass = useMemo(() => columnsOf(CLASS, measures), [measures]);
  const byPair = useMemo(() => columnsOf(PAIR, measures), [measures]);
  const byImage = useMemo(() => columnsOf(IMAGE, measures), [measures]);
  const open = (row: Measured) => onImage(String(row.image));
  return (
    <>
      <Card title={record.title} action={<More onClick={onWorst}>in the grid</More>}>
        <Typography color="text.secondary" sx={{ fontSize: 12.5 }}>{record.over}; all images and raters</Typography>
        <Reading of={reading} />
        {record.classes.length > 0 && <Sortable label="By class" rows={record.classes} columns={byClass} keyOf={keyOf} />}
        {record.pairs.length > 0 && <Sortable label="Pairs of raters" rows={record.pairs} columns={byPair} keyOf={keyOf} />}
      </Card>
      <Card title={`Images with ${worst}: click a row to open one`}>
        <Sortable label={`Images with ${worst}`} rows={record.images} columns={byImage} keyOf={keyOf} onClick={open} />
      </Card>
    </>
  );
}

function keyOf(row: Measured): string {
  return JSON.stringify([row.image, row.class, row.rater_a, row.rater_b]);
}

function columnsOf(heads: Named, measures: readonly Measure[]): Column<Measured>[] {
  const named = heads.map(([key, title]): Column<Measured> => ({
    key, title, by: (row) => String(row[key]), show: (row) => <Name of={String(row[key])} />,
  }));
  const measured = measures.map(({ key, title, show }): Column<Measured> => ({
    key, title, isNumber: true, by: (row) => numberIn(row, key) ?? null,
    show: (row) => <Value of={[numberIn(row, key), numberIn(row, `${key}_low`), numberIn(row, `${key}_high`)]} show={show} />,
  }));
  return [...named, ...measured];
}

function numberIn(row: Measured, key: string): Maybe {
  const value = row[key];
  return typeof value === "number" ? value : null;
}

function Value({ of: [value, low, high], show }: { of: [Maybe, Maybe, Maybe]; show: (value: number) => string }) {
  if (value == null) return <>–</>;
  return (
    <>
      {show(value)}
      {low != null && high != null && (
        <Box component="span" sx={{ display: "block", fontSize: 12, color: "text.secondary" }}>{`[${show(low)},\u00a0${show(high)}]`}</Box>
      )}
    </>
  );
}
