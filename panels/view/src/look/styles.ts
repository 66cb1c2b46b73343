import type { SxProps, Theme } from "../mui";

/** Visible keyboard focus of everything clickable. */
export const FOCUS = {
  "&:focus-visible": { outline: "2px solid var(--fo-palette-primary-main)", outlineOffset: 1 },
} as const;

/** Clickable row of a list or a table. */
export const ROW: SxProps<Theme> = {
  ...FOCUS,
  width: "100%",
  borderRadius: 1,
  textAlign: "left",
  "&:hover": { bgcolor: "action.hover" },
};

/** Digits of equal width, so that numbers in a column can be compared. */
export const NUMBERS = { fontVariantNumeric: "tabular-nums" } as const;

/** Grid with as many cards side by side as fit. */
export const grid = (least: number): SxProps<Theme> => ({
  display: "grid",
  gap: 1,
  gridTemplateColumns: `repeat(auto-fit, minmax(min(${least}px, 100%), 1fr))`,
});

/** At most two lines of text; add a tooltip with the full text. */
export const TWO_LINES = {
  display: "-webkit-box",
  WebkitLineClamp: 2,
  WebkitBoxOrient: "vertical",
  overflow: "hidden",
} as const;
