import React from "react";
import { alphaText, countText } from "../format";
import type { Maybe } from "../format";
import { Box, ButtonBase, Typography } from "../mui";
import { FOCUS } from "./styles";

type HistogramProps = {
  label: string;
  /** (n + 1) edges of the bins. */
  edges: readonly number[];
  /** (n) counts of the bins. */
  counts: readonly number[];
  show: (edge: number) => string;
  onClick?: (bin: number) => void;
  height?: number;
  /** Names and values of marked lines. */
  marks?: readonly (readonly [string, Maybe])[];
};

const STROKES = ["solid", "dashed", "dotted"] as const;

/** Histogram with clickable bars. */
export function Histogram({ label, edges, counts, show, onClick, height = 120, marks = [] }: HistogramProps) {
  const [first = 0, last = 1] = [edges[0], edges[edges.length - 1]];
  const most = Math.max(1, ...counts);
  const between = (bin: number) => `${show(edges[bin] ?? 0)} to ${show(edges[bin + 1] ?? 0)}`;
  return (
    <Box role="group" aria-label={label}>
      <Box sx={{ position: "relative", display: "flex", alignItems: "flex-end", gap: "1px", height }}>
        {counts.map((count, bin) => (
          <ButtonBase
            key={bin}
            disabled={!count || !onClick}
            title={`${between(bin)}: ${countText(count)}`}
            aria-label={`${between(bin)}: ${countText(count)}`}
            onClick={() => onClick?.(bin)}
            sx={{ ...FOCUS, flex: 1, height: "100%", alignItems: "flex-end", "&:hover": { bgcolor: "action.hover" } }}
          >
            <Box component="span" sx={{ width: "100%", height: `${(100 * count) / most}%`, bgcolor: "primary.main" }} />
          </ButtonBase>
        ))}
        {marks.map(([name, value], number) => value != null && (
          <Box key={name} aria-hidden sx={{ position: "absolute", top: 0, bottom: 0, pointerEvents: "none",
            left: `${(100 * (value - first)) / (last - first || 1)}%`, borderLeft: "2px", borderLeftStyle: STROKES[number % 3],
            borderColor: "text.primary" }} />
        ))}
      </Box>
      <Box sx={{ display: "flex", justifyContent: "space-between", gap: 1 }}>
        <Typography color="text.secondary" sx={{ fontSize: 12 }}>{show(first)}</Typography>
        {marks.map(([name, value], number) => value != null && (
          <Box key={name} sx={{ fontSize: 12, display: "flex", alignItems: "center", gap: 0.5 }}>
            <Box aria-hidden component="span" sx={{ width: 18, borderTop: "2px", borderTopStyle: STROKES[number % 3] }} />
            {name} {alphaText(value)}
          </Box>
        ))}
        <Typography color="text.secondary" sx={{ fontSize: 12 }}>{show(last)}</Typography>
      </Box>
    </Box>
  );
}
