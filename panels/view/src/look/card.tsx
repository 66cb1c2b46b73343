import React, { useId } from "react";
import type { ReactNode } from "react";
import { Box, ButtonBase, Paper, Stack, Typography } from "../mui";
import { FOCUS, TWO_LINES } from "./styles";

type CardProps = { title: string; action?: ReactNode; children?: ReactNode };

/** Part of a section: a heading that states the finding, the content, and one action. */
export function Card({ title, action, children }: CardProps) {
  const id = useId();
  return (
    <Paper
      variant="outlined"
      component="section"
      aria-labelledby={id}
      sx={{ px: 1.25, py: 0.75, bgcolor: "background.card", borderRadius: 1.5, minWidth: 0 }}
    >
      <Stack direction="row" justifyContent="space-between" alignItems="flex-start" spacing={0.5} sx={{ mb: 0.25 }}>
        <Typography id={id} component="h3" title={title} sx={{ ...TWO_LINES, fontSize: 12.5, fontWeight: 600, lineHeight: 1.3, pt: 0.25 }}>
          {title}
        </Typography>
        {action}
      </Stack>
      {children}
    </Paper>
  );
}

type FigureProps = { value: ReactNode; name: string; title?: string; onClick?: () => void };

/** A number with its noun, optionally as a button. */
export function Figure({ value, name, title, onClick }: FigureProps) {
  const inside = (
    <>
      <Typography component="span" sx={{ fontSize: 18, lineHeight: 1.3, fontWeight: 600 }}>
        {value}
      </Typography>
      <Typography component="span" variant="body2" color="text.secondary" noWrap sx={{ fontSize: 12 }}>
        {name}
      </Typography>
    </>
  );
  const sx = { display: "flex", justifyContent: "flex-start", alignItems: "baseline", gap: 0.5, px: 1, py: 0.25, width: "100%" };
  return (
    <Paper variant="outlined" title={title} sx={{ bgcolor: "background.card", borderRadius: 1.5, minWidth: 0 }}>
      {onClick ? (
        <ButtonBase onClick={onClick} sx={{ ...sx, ...FOCUS, borderRadius: 1.5 }}>
          {inside}
        </ButtonBase>
      ) : (
        <Box sx={sx}>{inside}</Box>
      )}
    </Paper>
  );
}
