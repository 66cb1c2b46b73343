import React from "react";
import type { Maybe } from "../format";
import { Box, ButtonBase } from "../mui";
import { Name } from "./name";
import { FOCUS, NUMBERS } from "./styles";

type MatrixProps = {
  label: string;
  rows: readonly string[];
  columns: readonly string[];
  /** (rows, columns) values; null for an empty cell. */
  values: readonly (readonly Maybe[])[];
  /** Values with the palest and the fullest colour. */
  domain: readonly [number, number];
  show: (value: number) => string;
  title?: (row: number, column: number) => string;
  onClick?: (row: number, column: number) => void;
};

/** Style of the names of many columns. */
const UPRIGHT = { writingMode: "vertical-rl", transform: "rotate(180deg)", maxHeight: 90, textAlign: "left", overflow: "hidden" } as const;

/** Style of names, which wrap so that columns stay narrow. */
const HEAD = { fontWeight: 500, fontSize: 12.5, lineHeight: 1.2, px: 0.25, overflowWrap: "anywhere", hyphens: "auto" } as const;

/** With more columns, cells are small and names are vertical. */
const FEW = 7;

/** Return the colour strength of a value, from 0 to 1. */
export function strengthOf(value: number, [from, to]: readonly [number, number]): number {
  return Math.min(Math.max((value - from) / (to - from || 1), 0), 1);
}

/** Matrix of values with clickable cells. */
export function Matrix({ label, rows, columns, values, domain, show, title, onClick }: MatrixProps) {
  const isSmall = columns.length > FEW;
  const head = isSmall ? { ...HEAD, ...UPRIGHT } : { ...HEAD, minWidth: 48, maxWidth: 64 };
  return (
    <Box component="table" aria-label={label} sx={{ borderCollapse: "separate", borderSpacing: isSmall ? 1 : 2, fontSize: 13 }}>
      <thead>
        <tr>
          <td />
          {columns.map((name, at) => (
            <Box component="th" scope="col" key={at} sx={head}>
              <Name of={name} />
            </Box>
          ))}
        </tr>
      </thead>
      <tbody>
        {rows.map((name, row) => (
          <tr key={row}>
            <Box component="th" scope="row" sx={{ ...HEAD, textAlign: "right", maxWidth: isSmall ? 70 : 120 }}>
              <Name of={name} />
            </Box>
            {columns.map((_, column) => {
              const value = values[row]?.[column];
              return (
                <td key={column}>
                  {value != null && (
                    <Cell
                      text={show(value)}
                      title={title?.(row, column)}
                      strength={strengthOf(value, domain)}
                      isSmall={isSmall}
                      onClick={onClick && (() => onClick(row, column))}
                    />
                  )}
                </td>
              );
            })}
          </tr>
        ))}
      </tbody>
    </Box>
  );
}

type CellProps = { text: string; title?: string; strength: number; isSmall: boolean; onClick?: () => void };

function Cell({ text, title, strength, isSmall, onClick }: CellProps) {
  const sx = {
    ...NUMBERS,
    ...FOCUS,
    position: "relative",
    minWidth: isSmall ? 26 : 48,
    width: "100%",
    height: isSmall ? 20 : 26,
    borderRadius: 0.5,
    fontSize: isSmall ? 11 : 13,
    "&::before": {
      content: '""',
      position: "absolute",
      inset: 0,
      borderRadius: "inherit",
      bgcolor: "primary.main",
      opacity: 0.05 + 0.4 * strength,
    },
  } as const;
  const inside = <Box component="span" sx={{ position: "relative" }}>{text}</Box>;
  if (!onClick) return <Box title={title} sx={{ ...sx, display: "grid", placeItems: "center" }}>{inside}</Box>;
  return <ButtonBase title={title} onClick={onClick} sx={sx}>{inside}</ButtonBase>;
}
