/** Formatting of numbers and names, with the same rounding as `kalos_core.display` in Python. */
const MINUS = "\u2212";
const NO_BREAK = "\u00a0";
const UNDEFINED = "undefined";

/** An interval narrower than this is shown with three decimals. */
const NARROW = 0.05;

/** Most letters of a name; the tooltip shows the full name. */
const MOST_LETTERS = 60;

/** Invisible characters: control characters, direction marks, format characters. */
const UNSEEN =
  // eslint-disable-next-line no-control-regex -- these are removed
  /[\u0000-\u0008\u000e-\u001b\u007f-\u0084\u0086-\u009f\u00ad\u061c\u180e\u200b\u200e\u200f\u202a-\u202e\u2060-\u206f\ufeff\ufff9-\ufffb]/g;

export type Maybe = number | null | undefined;
export type Interval = readonly [Maybe, Maybe];

/** Format a value with fixed decimals; ties are rounded to even, as in Python. */
function fixed(value: number, digits: number): string {
  const halves = Math.round(value * 10 ** digits * 2);
  const isTie = halves % 2 !== 0 && halves % 5 ** digits === 0 && halves / (2 * 10 ** digits) === value;
  if (!isTie) return value.toFixed(digits);
  return ((2 * Math.round(halves / 4)) / 10 ** digits).toFixed(digits);
}

/** Use a minus sign and thousands separators; zero has no sign. */
function typeset(text: string): string {
  const isZero = /^-?0*(\.0*)?$/.test(text);
  const [whole = "", ...rest] = text.replace("-", "").split(".");
  const grouped = [whole.replace(/\B(?=(\d{3})+$)/g, ","), ...rest].join(".");
  return text.startsWith("-") && !isZero ? MINUS + grouped : grouped;
}

/** Format an alpha or a similarity with two decimals, or three in a table. */
export function alphaText(value: Maybe, digits = 2): string {
  return value == null ? UNDEFINED : typeset(fixed(value, digits));
}

/** Format an interval without line breaks; "" without an interval. */
export function intervalText([low, high]: Interval, digits?: number): string {
  if (low == null || high == null) return "";
  const places = digits ?? (high - low < NARROW ? 3 : 2);
  return `[${alphaText(low, places)},${NO_BREAK}${alphaText(high, places)}]`;
}

/** Format a value with its interval, with the same number of decimals. */
export function withInterval(value: Maybe, [low, high]: Interval): string {
  if (low == null || high == null) return alphaText(value);
  const places = high - low < NARROW ? 3 : 2;
  return `${alphaText(value, places)}${NO_BREAK}${intervalText([low, high], places)}`;
}

/** Format a mAP in [0, 1] in points from 0 to 100, as in papers. */
export function pointsText(value: Maybe): string {
  return alphaText(value == null ? value : 100 * value, 1);
}

/** Format a difference of alphas with three decimals and a sign. */
export function signedText(value: Maybe): string {
  return `${value != null && value > 0 ? "+" : ""}${alphaText(value, 3)}`;
}

/** Format a number without a fixed scale, such as a distance in pixels, with significant digits; whole from 1,000. */
export function significantText(value: Maybe, digits = 3): string {
  if (value == null) return UNDEFINED;
  return typeset(Math.abs(value) >= 1000 ? value.toFixed(0) : String(Number(value.toPrecision(digits))));
}

export function countText(count: number): string {
  return typeset(String(Math.round(count)));
}

/** Format a share as a percentage with at most two significant digits; 0 and 100 are never rounded values. */
export function percentText(share: Maybe): string {
  if (share == null) return UNDEFINED;
  const percent = 100 * Math.abs(share);
  if (percent > 0 && percent < 0.001) return `<${NO_BREAK}0.001${NO_BREAK}%`;
  if (percent >= 99.5 && percent < 100) return `>${NO_BREAK}99${NO_BREAK}%`;
  const text = percent >= 100 ? percent.toFixed(0) : String(Number(percent.toPrecision(2)));
  return `${typeset((share < 0 ? "-" : "") + text)}${NO_BREAK}%`;
}

/** Format a rate per 100 as a percentage. */
export function per100Text(rate: Maybe): string {
  return percentText(rate == null ? rate : rate / 100);
}

/** Format a count with its noun; `several` is an irregular plural. */
export function numberOf(count: number, one: string, several = `${one}s`): string {
  return `${countText(count)} ${count === 1 ? one : several}`;
}

/** Return text from data on one line, without control characters, shortened if it is long. */
export function plain(text: string, length = MOST_LETTERS): string {
  const line = text.replace(UNSEEN, "").replace(/[^\S\u00a0]+/g, " ").trim();
  return line.length <= length ? line : `${line.slice(0, length - 1).trimEnd()}…`;
}
