import React from "react";
import { countText } from "../format";
import { Box, ButtonBase, Typography } from "../mui";
import { FOCUS } from "./styles";

type HistogramProps = {
  label: string;
  /** (n + 1) ends of the bins. */
  edges: readonly number[];
  /** (n) how many are in each. */
  counts: readonly number[];
  show: (edge: number) => string;
  onClick?: (bin: number) => void;
  height?: number;
};

/** How many there are of each size; a bar is a click. */
export function Histogram({ label, edges, counts, show, onClick, height = 120 }: HistogramProps) {
  const most = Math.max(1, ...counts);
  const between = (bin: number) => `${show(edges[bin] ?? 0)} to ${show(edges[bin + 1] ?? 0)}`;
  return (
    <Box role="group" aria-label={label}>
      <Box sx={{ display: "flex", alignItems: "flex-end", gap: "1px", height }}>
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
      </Box>
      <Box sx={{ display: "flex", justifyContent: "space-between" }}>
        {[edges[0], edges[edges.length - 1]].map((edge) => (
          <Typography key={edge} variant="caption" color="text.secondary">{show(edge ?? 0)}</Typography>
        ))}
      </Box>
    </Box>
  );
}
