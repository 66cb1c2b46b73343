import React from "react";
import { plain } from "../format";
import { Box, MenuItem, Select } from "../mui";
import { FOCUS } from "./styles";

type MenuProps = {
  label: string;
  chosen: string;
  entries: readonly (readonly [string, string])[];
  onChoose: (key: string) => void;
};

/** Menu with a label next to it; nothing with fewer than two entries. */
export function Menu({ label, chosen, entries, onChoose }: MenuProps) {
  if (entries.length < 2) return null;
  return (
    <Box sx={{ display: "inline-flex", alignItems: "center", gap: 0.75, fontSize: 13 }}>
      <Box component="span" color="text.secondary" aria-hidden>{label}</Box>
      <Select size="small" value={chosen} displayEmpty onChange={(event) => onChoose(event.target.value)}
        inputProps={{ "aria-label": label }} SelectDisplayProps={{ "aria-label": label }}
        sx={{ ...FOCUS, fontSize: 13, height: 28, maxWidth: 260 }}>
        {entries.map(([key, text]) => (
          <MenuItem key={key} value={key} dense title={plain(text, Infinity)}>{plain(text)}</MenuItem>
        ))}
      </Select>
    </Box>
  );
}
