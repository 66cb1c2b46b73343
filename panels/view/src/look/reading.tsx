import React, { useState } from "react";
import { Box, Button, Typography } from "../mui";
import { FOCUS } from "./styles";

/** How to read the content below, and its formula: `Caption` of the library's figures. */
export type Caption = { read: string; formula: string };

/** Line on how to read the content below, with the formula behind "?". */
export function Reading({ of: { read, formula } }: { of: Caption }) {
  const [explains, setExplains] = useState(false);
  return (
    <>
      <Box sx={{ display: "flex", alignItems: "flex-start", justifyContent: "space-between", gap: 0.5 }}>
        <Typography color="text.secondary" sx={{ fontSize: 12.5 }}>{read}</Typography>
        <Button size="small" aria-label="Formula and source" aria-expanded={explains} title="Formula and source"
          onClick={() => setExplains(!explains)} sx={{ ...FOCUS, minWidth: 28, py: 0 }}>?</Button>
      </Box>
      {explains && <Typography sx={{ fontSize: 12.5, my: 0.5 }}>{formula}</Typography>}
    </>
  );
}
