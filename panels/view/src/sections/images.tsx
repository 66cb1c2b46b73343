import React from "react";
import { alphaText, countText, numberOf, withInterval } from "../format";
import type { Interval, Maybe } from "../format";
import { Card } from "../look/card";
import { Histogram } from "../look/histogram";
import { More } from "../look/more";
import { Reading } from "../look/reading";
import type { Caption } from "../look/reading";
import { Thumbnail } from "../look/thumbnail";
import type { RatedImage } from "../look/thumbnail";
import { Box, Stack, Typography } from "../mui";
import type { SectionProps } from "./section";

/** `panels/data/images.py` */
type Sent = {
  alpha: Maybe;
  interval: Interval;
  why: string;
  images: number;
  units: number;
  undefined: number;
  edges: number[];
  counts: number[];
  middles: [string, Maybe][];
  caption: Caption;
  worst: RatedImage[];
};
type Props = SectionProps<Sent>;

/** Distribution of alpha over images, and the images with the lowest alpha. */
export function Images(props: Props) {
  return (
    <Stack spacing={1}>
      <Distribution {...props} />
      <Worst {...props} />
    </Stack>
  );
}

function Distribution({ record, act }: Props) {
  const { alpha, interval, why, images, units, undefined: without, edges, counts, middles, caption } = record;
  const title = `α ${withInterval(alpha, interval)} over ${numberOf(images, "image")}, ${numberOf(units, "object")}`;
  const notes = [why && `No interval: ${why}.`, without > 0 && `${numberOf(without, "image has", "images have")} no alpha.`];
  const onClick = (bin: number) => act("alpha", { low: edges[bin], high: edges[bin + 1] });
  return (
    <Card title={title}>
      <Reading of={caption} />
      <Histogram label="Images by alpha" edges={edges} counts={counts} marks={middles} height={130}
        show={(edge) => alphaText(edge, 1)} onClick={onClick} />
      <Typography color="text.secondary" sx={{ fontSize: 12.5 }}>{notes.filter(Boolean).join(" ")}</Typography>
    </Card>
  );
}

function Worst({ record: { worst }, act }: Props) {
  if (!worst.length) return null;
  return (
    <Card title={`The ${countText(worst.length)} images with the lowest agreement`}
      action={<More onClick={() => act("worst")}>in the grid</More>}>
      <Box sx={{ display: "grid", gap: 0.75, gridTemplateColumns: "repeat(auto-fill, minmax(92px, 1fr))" }}>
        {worst.map((image) => (
          <Thumbnail key={image.sample_id} image={image} height={70} onClick={() => act("open", { sample: image.sample_id })} />
        ))}
      </Box>
    </Card>
  );
}
