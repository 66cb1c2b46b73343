import type { SxProps, Theme } from "../mui";

/** The focus of the keyboard is seen on everything that can be clicked. */
export const FOCUS = {
  "&:focus-visible": { outline: "2px solid var(--fo-palette-primary-main)", outlineOffset: 1 },
} as const;

/** A row of a list or a table that is a click. */
export const ROW: SxProps<Theme> = {
  ...FOCUS,
  width: "100%",
  borderRadius: 1,
  textAlign: "left",
  "&:hover": { bgcolor: "action.hover" },
};

/** Digits of one width, so that numbers below one another can be compared. */
export const NUMBERS = { fontVariantNumeric: "tabular-nums" } as const;

/** Cards side by side, as many as there is room for. */
export const grid = (least: number): SxProps<Theme> => ({
  display: "grid",
  gap: 1,
  gridTemplateColumns: `repeat(auto-fit, minmax(min(${least}px, 100%), 1fr))`,
});

/** At most two lines; the whole has to stand in the hover. */
export const TWO_LINES = {
  display: "-webkit-box",
  WebkitLineClamp: 2,
  WebkitBoxOrient: "vertical",
  overflow: "hidden",
} as const;
