import React from "react";
import { alphaText } from "../format";
import type { Maybe } from "../format";
import { Box } from "../mui";
import { Card } from "./card";
import { Matrix } from "./matrix";
import { FOCUS } from "./styles";
import { Note } from "./text";

/** A matrix of the library, as `panels/data/figure.py` sends it. */
export type LibraryMatrix = { title: string; reading: string; rows: string[]; columns: string[]; values: Maybe[][] };

type HeatProps = {
  of: LibraryMatrix;
  domain?: readonly [number, number];
  show?: (value: number) => string;
  onClick?: (row: number, column: number) => void;
  hint?: string;
};

/** Card with a matrix: its finding, how to read it, and its values. */
export function Heat({ of, domain = [0, 1], show = alphaText, onClick, hint = "" }: HeatProps) {
  return (
    <Card title={of.title}>
      <Note>{[of.reading, hint].filter(Boolean).join(" ")}</Note>
      <Box data-scrolls="" tabIndex={onClick ? undefined : 0} sx={{ ...FOCUS, overflowX: "auto" }}>
        <Matrix label={of.title} rows={of.rows} columns={of.columns} values={of.values} domain={domain} show={show} onClick={onClick} />
      </Box>
    </Card>
  );
}
