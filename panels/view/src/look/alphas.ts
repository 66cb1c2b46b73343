/** Rows of `panels/data/ranked.py`. */
import { alphaText, numberOf, withInterval } from "../format";
import type { Maybe } from "../format";
import type { RankedRow } from "./ranked";

export type Ranking = { name: string; value: Maybe; low: Maybe; high: Maybe; images: number };
export type Counted = { name: string; value: number };
/** A type of difference with its title. */
export type Difference = Counted & { title: string };

/** Return a row with an alpha and its interval. */
export function ofAlpha({ name, value, low, high, images }: Ranking, colour?: string): RankedRow {
  const title = `${withInterval(value, [low, high])} on ${numberOf(images, "image")}`;
  return { key: name, name, value, interval: [low, high], text: alphaText(value), title, colour };
}

/** Return the domain from 0, or from the lowest negative value, to 1. */
export function domainOf(rows: readonly Ranking[]): [number, number] {
  return [Math.min(0, ...rows.flatMap(({ value, low }) => [value ?? 0, low ?? 0])), 1];
}
