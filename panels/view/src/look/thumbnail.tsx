import React from "react";
import { getSampleSrc } from "../app";
import { alphaText, numberOf, plain } from "../format";
import type { Maybe } from "../format";
import { Box, ButtonBase } from "../mui";
import { FOCUS } from "./styles";

/** An image with its alpha, as in `ImageRow` of the bridge. */
export type RatedImage = { sample_id: string; file: string; alpha: Maybe; labels: number; path: string };

type ThumbnailProps = { image: RatedImage; onClick: () => void; height?: number };

/** Clickable thumbnail with its alpha in the corner. */
export function Thumbnail({ image: { file, alpha, labels, path }, onClick, height = 44 }: ThumbnailProps) {
  const about = `${plain(file)}: alpha ${alphaText(alpha)}, ${numberOf(labels, "label")}`;
  return (
    <ButtonBase onClick={onClick} title={about} aria-label={about}
      sx={{ ...FOCUS, position: "relative", height, borderRadius: 1, overflow: "hidden" }}>
      <Box component="img" src={getSampleSrc(path)} alt="" sx={{ width: "100%", height: "100%", objectFit: "cover" }} />
      <Box component="span" sx={{ position: "absolute", right: 3, bottom: 3, px: 0.5, borderRadius: 0.5, fontSize: 12,
        bgcolor: "rgba(0, 0, 0, 0.75)", color: "#fff" }}>
        {alphaText(alpha)}
      </Box>
    </ButtonBase>
  );
}
