import React from "react";
import { alphaText, intervalText, withInterval } from "../format";
import type { Maybe } from "../format";
import { Box } from "../mui";
import { Name } from "./name";
import type { Column } from "./table";

/** A number with its interval, as in `value_of` of `panels/data/rows.py`. */
export type Value = { value: Maybe; low: Maybe; high: Maybe; reason: string };

type ShownProps = { of: Value; show?: (value: Maybe) => string };

/** A value with its interval below it, or the reason why it is undefined. */
export function Measured({ of: { value, low, high, reason }, show }: ShownProps) {
  if (value == null && reason) return <Box component="span" color="text.secondary">{reason}</Box>;
  const ends = [low, high] as const;
  const interval = intervalText(ends);
  const own = show && interval ? `[${show(low)},\u00a0${show(high)}]` : interval;
  const number = show ? show(value) : withInterval(value, ends).split("\u00a0[")[0];
  return (
    <>
      {number}
      {own && <Box component="span" color="text.secondary" sx={{ display: "block", fontSize: 11, lineHeight: 1.2 }}>{own}</Box>}
    </>
  );
}

/** Return a column of values with intervals, sortable by value. */
export function valueColumn<Row>(key: string, title: string, of: (row: Row) => Value, show?: (value: Maybe) => string): Column<Row> {
  return { key, title, show: (row) => <Measured of={of(row)} show={show} />, by: (row) => of(row).value ?? null, isNumber: true };
}

/** Return a column of names from data. */
export function nameColumn<Row>(key: string, title: string, of: (row: Row) => string): Column<Row> {
  return { key, title, show: (row) => <Name of={of(row)} />, by: of };
}

/** Return a column of numbers. */
export function numberColumn<Row>(key: string, title: string, of: (row: Row) => Maybe, show: (value: number) => string): Column<Row> {
  const text = (value: Maybe) => (value == null ? "–" : show(value));
  return { key, title, show: (row) => text(of(row)), by: (row) => of(row) ?? null, isNumber: true };
}

/** Return the tooltip of a row: the value, its interval, and its basis. */
export function titleOf({ value, low, high, reason }: Value, over = ""): string {
  return [reason || `${alphaText(value, 3)} ${intervalText([low, high], 3)}`.trim(), over].filter(Boolean).join(", ");
}
