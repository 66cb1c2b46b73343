import React from "react";
import { Alert, Box, Button, Skeleton, Stack, Typography } from "../mui";
import { FOCUS } from "./styles";

/** Placeholder while something loads. */
export function Loading({ heights = [88, 52, 150, 150] }: { heights?: readonly number[] }) {
  return (
    <Stack spacing={1} role="status" aria-label="Loading">
      {heights.map((height, number) => (
        <Skeleton key={number} variant="rounded" height={height} animation="wave" />
      ))}
    </Stack>
  );
}

type Step = { label: string; onClick: () => void };

/** Placeholder for missing content: what it would show, and steps to create it. */
export function Empty({ title, text, steps }: { title: string; text: string; steps: readonly Step[] }) {
  return (
    <Stack spacing={1.5} alignItems="flex-start" sx={{ py: 2, maxWidth: 560 }}>
      <Typography component="h3" variant="h6">{title}</Typography>
      <Typography variant="body2">{text}</Typography>
      <Stack direction="row" spacing={1}>
        {steps.map(({ label, onClick }, number) => (
          <Button key={label} variant={number ? "outlined" : "contained"} onClick={onClick} sx={FOCUS}>{label}</Button>
        ))}
      </Stack>
    </Stack>
  );
}

/** Error message with a button to try again. */
export function Failed({ problem, onRetry }: { problem: string; onRetry: () => void }) {
  return (
    <Alert severity="error" action={<Button color="inherit" size="small" onClick={onRetry} sx={FOCUS}>Try again</Button>}>
      <Box component="strong" sx={{ display: "block" }}>This could not be shown</Box>
      <Box component="span" sx={{ whiteSpace: "pre-line", overflowWrap: "anywhere" }}>{problem}</Box>
    </Alert>
  );
}
