import React, { useState } from "react";
import type { KeyboardEvent, ReactNode } from "react";
import { Table, TableBody, TableCell, TableHead, TableRow, TableSortLabel } from "../mui";
import { FOCUS, NUMBERS } from "./styles";

export type Column<Row> = {
  key: string;
  title: string;
  show: (row: Row) => ReactNode;
  /** Sort key; without it, the column cannot be sorted. */
  by?: (row: Row) => number | string | null;
  isNumber?: boolean;
  hover?: string;
};

export type Order = { key: string; descending: boolean };

/** Return rows sorted by a column, undefined values last; the sort is stable. */
export function sorted<Row>(rows: readonly Row[], columns: readonly Column<Row>[], order: Order | null): readonly Row[] {
  const by = columns.find(({ key }) => key === order?.key)?.by;
  if (!by || !order) return rows;
  const sign = order.descending ? -1 : 1;
  return [...rows].sort((one, other) => {
    const [a, b] = [by(one), by(other)];
    if (a === b) return 0;
    if (a === null) return 1;
    if (b === null) return -1;
    return a < b ? -sign : sign;
  });
}

type SortableProps<Row> = {
  label: string;
  rows: readonly Row[];
  columns: readonly Column<Row>[];
  keyOf: (row: Row) => string;
  onClick?: (row: Row) => void;
  first?: Order;
  /** Whether a row is the one with details next to the table. */
  isChosen?: (row: Row) => boolean;
};

/** Sortable table; rows are clickable, also with Enter. */
export function Sortable<Row>({ label, rows, columns, keyOf, onClick, first, isChosen }: SortableProps<Row>) {
  const [order, setOrder] = useState<Order | null>(first ?? null);
  const turn = (key: string) =>
    setOrder((now) => ({ key, descending: now?.key === key ? !now.descending : false }));
  return (
    <Table size="small" aria-label={label} sx={{ "& td, & th": { fontSize: 13, px: 0.5, py: 0.5 } }}>
      <TableHead>
        <TableRow>
          {columns.map((column) => (
            <TableCell key={column.key} align={column.isNumber ? "right" : "left"} title={column.hover}
              sortDirection={order?.key === column.key ? (order.descending ? "desc" : "asc") : false}>
              {column.by && column.title ? (
                <TableSortLabel hideSortIcon active={order?.key === column.key} direction={order?.descending ? "desc" : "asc"}
                  onClick={() => turn(column.key)} sx={FOCUS}>
                  {column.title}
                </TableSortLabel>
              ) : column.title}
            </TableCell>
          ))}
        </TableRow>
      </TableHead>
      <TableBody>
        {sorted(rows, columns, order).map((row) => (
          <TableRow key={keyOf(row)} selected={isChosen?.(row)} {...(onClick ? clickable(() => onClick(row)) : {})}>
            {columns.map((column) => (
              <TableCell key={column.key} align={column.isNumber ? "right" : "left"} sx={column.isNumber ? NUMBERS : {}}>
                {column.show(row)}
              </TableCell>
            ))}
          </TableRow>
        ))}
      </TableBody>
    </Table>
  );
}

/** Return props that make a row clickable, with the mouse and the keyboard. */
function clickable(onClick: () => void) {
  return {
    hover: true,
    tabIndex: 0,
    onClick,
    onKeyDown: (event: KeyboardEvent) => {
      if (event.key !== "Enter" && event.key !== " ") return;
      event.preventDefault();
      onClick();
    },
    sx: { ...FOCUS, cursor: "pointer" },
  };
}
