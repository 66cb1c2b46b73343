import React from "react";
import { alphaText, intervalText } from "../format";
import type { Interval, Maybe } from "../format";
import { Box, Typography } from "../mui";

/** Lowest alpha and name of each band, from the top; values below the last band are systematic disagreement. */
export type Bands = readonly (readonly [number, string])[];

const LEAST = -0.1;
const BELOW = "systematic disagreement";

/** Return the position of a value on the scale, in percent of its width. */
export function placeOf(value: number): number {
  return ((Math.min(Math.max(value, LEAST), 1) - LEAST) / (1 - LEAST)) * 100;
}

/** Return the start, width and name of each band, from the left. */
export function stripes(bands: Bands): { left: number; width: number; name: string }[] {
  const edges = [...bands].reverse();
  const all = [[LEAST, BELOW] as const, ...edges];
  return all.map(([from, name], number) => {
    const left = placeOf(from);
    return { left, width: placeOf(all[number + 1]?.[0] ?? 1) - left, name };
  });
}

type ScaleProps = { alpha: Maybe; interval: Interval; bands: Bands };

/** Scale of the bands, with alpha and its interval. */
export function Scale({ alpha, interval, bands }: ScaleProps) {
  const [low, high] = interval;
  const label = `alpha ${alphaText(alpha)} ${intervalText(interval)} on a scale from ${alphaText(LEAST, 1)} to 1`;
  return (
    <Box role="img" aria-label={label} sx={{ position: "relative", height: 36 }}>
      {stripes(bands).map(({ left, width, name }, number) => (
        <Band key={name} left={left} width={width} name={name} strength={number} />
      ))}
      {low != null && high != null && (
        <Mark left={placeOf(low)} width={placeOf(high) - placeOf(low)} top={7} height={4} opacity={0.6} />
      )}
      {alpha != null && <Mark left={placeOf(alpha)} width={0} top={0} height={18} opacity={1} />}
    </Box>
  );
}

function Band({ left, width, name, strength }: { left: number; width: number; name: string; strength: number }) {
  return (
    <Box sx={{ position: "absolute", left: `${left}%`, width: `${width}%`, top: 3, pr: "2px" }}>
      <Box sx={{ height: 12, bgcolor: "text.primary", opacity: 0.1 + 0.05 * strength, borderRadius: 0.5 }} />
      <Typography
        component="div"
        color="text.secondary"
        title={name}
        noWrap
        sx={{ fontSize: 10.5, letterSpacing: "-0.3px", lineHeight: 1.4, mt: "3px" }}
      >
        {strength ? name : "< 0"}
      </Typography>
    </Box>
  );
}

function Mark(props: { left: number; width: number; top: number; height: number; opacity: number }) {
  const { left, width, top, height, opacity } = props;
  return (
    <Box
      sx={{
        position: "absolute",
        left: width ? `${left}%` : `calc(${left}% - 2px)`,
        width: width ? `${width}%` : 4,
        top,
        height,
        opacity,
        bgcolor: "primary.main",
        borderRadius: 1,
      }}
    />
  );
}
