import React from "react";
import { plain } from "../format";
import type { Interval, Maybe } from "../format";
import { Box, ButtonBase, Typography } from "../mui";
import { Name } from "./name";
import { NUMBERS, ROW } from "./styles";

export type RankedRow = {
  key: string;
  name: string;
  value: Maybe;
  interval?: Interval;
  /** Rounded value at the end of the row. */
  text: string;
  /** Exact numbers, for the tooltip and for screen readers. */
  title?: string;
  colour?: string;
};

type RankedProps = {
  rows: readonly RankedRow[];
  domain: readonly [number, number];
  onClick?: (key: string) => void;
  /** Share of the width for the names, in percent. */
  names?: number;
};

/** Ordered list of clickable rows, each with a bar from zero and an interval. */
export function Ranked({ rows, domain, onClick, names = 34 }: RankedProps) {
  const line = { ...LINE, gridTemplateColumns: `minmax(64px, ${names}%) 1fr auto` };
  return (
    <Box component="ol" sx={{ m: 0, p: 0, listStyle: "none" }}>
      {rows.map((row) => (
        <li key={row.key}>
          {onClick ? (
            <ButtonBase onClick={() => onClick(row.key)} title={row.title} aria-label={labelOf(row)} sx={{ ...ROW, ...line }}>
              <Line row={row} domain={domain} />
            </ButtonBase>
          ) : (
            <Box title={row.title} sx={line}>
              <Line row={row} domain={domain} />
            </Box>
          )}
        </li>
      ))}
    </Box>
  );
}

const LINE = {
  display: "grid",
  alignItems: "center",
  gap: 0.75,
  px: 0.5,
  minHeight: 22,
};

function labelOf({ name, text, title }: RankedRow): string {
  return [`${plain(name)}: ${text}`, title].filter(Boolean).join(", ");
}

function Line({ row, domain }: { row: RankedRow; domain: readonly [number, number] }) {
  return (
    <>
      <Typography component="span" noWrap sx={{ fontSize: 13, display: "flex" }}>
        <Name of={row.name} />
      </Typography>
      <Bar row={row} domain={domain} />
      <Typography component="span" sx={{ ...NUMBERS, fontSize: 13, minWidth: 34, textAlign: "right" }}>
        {row.text}
      </Typography>
    </>
  );
}

/** Return the start and length of a bar from zero to a value, in percent of the domain. */
export function spanOf(value: number, [from, to]: readonly [number, number]): { left: number; width: number } {
  const place = (at: number) => ((Math.min(Math.max(at, from), to) - from) / (to - from || 1)) * 100;
  const [zero, end] = [place(0), place(value)];
  return { left: Math.min(zero, end), width: Math.abs(end - zero) };
}

function Bar({ row, domain }: { row: RankedRow; domain: readonly [number, number] }) {
  const [low, high] = row.interval ?? [null, null];
  const [from] = domain;
  const bar = row.value == null ? null : spanOf(row.value, domain);
  const zero = spanOf(0, domain).left;
  const ends = low == null || high == null ? null : [low, high].map((end) => spanOf(end - from, [0, domain[1] - from]));
  return (
    <Box component="span" sx={{ position: "relative", height: 12, bgcolor: "action.hover", borderRadius: 0.5 }}>
      {bar && <Part left={bar.left} width={bar.width} top={1} height={10} colour={row.colour ?? "primary.main"} />}
      {from < 0 && <Part left={zero} width={0.4} top={0} height={12} colour="text.secondary" />}
      {ends?.[0] && ends[1] && (
        <Part left={ends[0].width} width={ends[1].width - ends[0].width} top={5} height={2} colour="text.primary" />
      )}
    </Box>
  );
}

function Part(props: { left: number; width: number; top: number; height: number; colour: string }) {
  const { left, width, top, height, colour } = props;
  const sx = { position: "absolute", left: `${left}%`, width: `${width}%`, top, height, bgcolor: colour, borderRadius: 0.5 };
  return <Box component="span" sx={sx} />;
}
