import React, { useMemo } from "react";
import { countText, per100Text, plain } from "../format";
import type { Maybe } from "../format";
import { Box, ButtonBase } from "../mui";
import { Name } from "./name";
import { FOCUS, NUMBERS } from "./styles";
import { Sortable } from "./table";
import type { Column } from "./table";

export type RateName = "missing" | "additional" | "wrong_class" | "merges" | "splits";

/** Rates as in `RaterRates` of the library: counts with totals, and rates per 100. */
export type Rated = {
  rater: string;
  counts: Partial<Record<RateName, [number, number]>>;
  rates: Partial<Record<RateName, Maybe>>;
};

type About = { key: RateName; title: string; short: string; of: string };

/** Rates in the order of their columns, with the meaning and the denominator of each. */
export const RATES: readonly About[] = [
  { key: "missing", short: "Misses", title: "Objects that most others annotated and this rater missed", of: "objects that most others have" },
  { key: "additional", short: "Adds", title: "Own labels that no other rater has", of: "own labels" },
  { key: "wrong_class", short: "Class", title: "Own labels with another class than most others give", of: "own labels" },
  { key: "merges", short: "Merges", title: "Own labels for which most others have several", of: "own labels" },
  { key: "splits", short: "Splits", title: "Own labels for which most others have one larger label", of: "own labels" },
];

/** "17 of 70 objects that most others have". */
export function countsText([count, all]: [number, number], { of }: About): string {
  return `${countText(count)} of ${countText(all)} ${of}`;
}

type RatesProps<Given extends Rated> = {
  rows: readonly Given[];
  onRate: (rater: string, kind: RateName) => void;
  /** Additional columns between the names and the rates. */
  before?: readonly Column<Given>[];
  onRow?: (row: Given) => void;
  isChosen?: (row: Given) => boolean;
};

/** Table of raters with rates and counts; click a rate to see its labels. */
export function RatesTable<Given extends Rated>({ rows, onRate, before = [], onRow, isChosen }: RatesProps<Given>) {
  const columns = useMemo(
    () => [nameColumn<Given>(), ...before, ...RATES.map((about) => rateColumn<Given>(about, onRate))],
    [before, onRate],
  );
  return (
    <Sortable label="Raters" rows={rows} columns={columns} keyOf={(row) => row.rater} onClick={onRow} isChosen={isChosen} />
  );
}

function nameColumn<Given extends Rated>(): Column<Given> {
  return { key: "rater", title: "Rater", show: ({ rater }) => <Name of={rater} />, by: ({ rater }) => rater };
}

function rateColumn<Given extends Rated>(about: About, onRate: (rater: string, kind: RateName) => void): Column<Given> {
  return {
    key: about.key,
    title: about.short,
    hover: about.title,
    isNumber: true,
    by: ({ rates }) => rates[about.key] ?? null,
    show: (row) => <RateCell row={row} about={about} onClick={() => onRate(row.rater, about.key)} />,
  };
}

type CellProps = { row: Rated; about: About; onClick: () => void };

function RateCell({ row: { rater, counts, rates }, about, onClick }: CellProps) {
  const [rate, pair] = [rates[about.key], counts[about.key]];
  if (rate == null || !pair) return <>–</>;
  const of = (
    <Box component="span" sx={{ ...NUMBERS, display: "block", fontSize: 12, color: "text.secondary", lineHeight: 1.2 }}>
      {`${countText(pair[0])}\u00a0/\u00a0${countText(pair[1])}`}
    </Box>
  );
  if (!pair[0]) return <>{per100Text(rate)}{of}</>;
  const title = `${plain(rater)}: ${about.title}: ${countsText(pair, about)}`;
  return (
    <ButtonBase title={title} aria-label={title} onKeyDown={(event) => event.stopPropagation()}
      onClick={(event) => {
        event.stopPropagation(); // else it would also click the row
        onClick();
      }}
      sx={{ ...FOCUS, display: "block", ml: "auto", px: 0.5, mx: -0.5, borderRadius: 0.5, fontSize: 13, textAlign: "right",
        "&:hover": { bgcolor: "action.selected" } }}>
      {per100Text(rate)}
      {of}
    </ButtonBase>
  );
}
