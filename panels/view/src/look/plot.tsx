import React, { useMemo, useState } from "react";
import { OperatorIO, types } from "../app";
import { Box, Button, Stack, Typography } from "../mui";
import { FOCUS } from "./styles";

/** A figure of the library, as `panels/data/figure.py` sends it. */
export type LibraryFigure = { title: string; reading: string; formula: string; traces: unknown; layout: object };

/** Plotly figure, drawn by the App's own Plotly; used for figures to zoom into, while simple bars are drawn in React. */
export function Plot({ figure, height = 300 }: { figure: LibraryFigure; height?: number }) {
  const [explains, setExplains] = useState(false);
  const schema = useMemo(() => {
    const root = new types.Object();
    const layout = { ...figure.layout, height };
    const view = new types.PlotlyView({ layout, config: { displayModeBar: false }, height });
    root.defineProperty("plot", new types.List(new types.Object()), { view });
    return new types.Property(root);
  }, [figure, height]);
  const data = useMemo(() => ({ plot: figure.traces }), [figure]);
  return (
    <Box component="figure" aria-label={figure.title || figure.reading} sx={{ m: 0, minWidth: 0 }}>
      <Stack direction="row" spacing={1} alignItems="flex-start" justifyContent="space-between">
        <Box>
          {figure.title && <Typography component="h3" variant="subtitle2">{figure.title}</Typography>}
          <Typography variant="body2" color="text.secondary">{figure.reading}</Typography>
        </Box>
        <Button size="small" aria-label="Formula and source" aria-expanded={explains} title="Formula and source"
          onClick={() => setExplains(!explains)} sx={{ ...FOCUS, minWidth: 28 }}>?</Button>
      </Stack>
      {explains && <Typography variant="body2" sx={{ my: 0.5 }}>{figure.formula}</Typography>}
      <OperatorIO schema={schema} data={data} onChange={() => undefined} layout={{}} />
    </Box>
  );
}
