/** All that is taken from MUI, whose theme in the App is FiftyOne's own. */
import { Button as MuiButton, styled } from "@mui/material";

export {
  Alert,
  Box,
  ButtonBase,
  FormControlLabel,
  IconButton,
  InputBase,
  LinearProgress,
  MenuItem,
  Paper,
  Select,
  Skeleton,
  Stack,
  Switch,
  Tab,
  Table,
  TableBody,
  TableCell,
  TableHead,
  TableRow,
  TableSortLabel,
  Tabs,
  TextField,
  Typography,
} from "@mui/material";
export type { SxProps, Theme } from "@mui/material";

/** FiftyOne's orange is too light for text on white, and for white text on it: WCAG asks for 4.5:1. */
export const Button = styled(MuiButton)({
  "&.MuiButton-text:not(.Mui-disabled)": {
    color: "var(--fo-palette-text-primary)",
    textDecoration: "underline",
    textDecorationColor: "var(--fo-palette-primary-main)",
    textUnderlineOffset: "3px",
  },
  "&.MuiButton-outlined:not(.Mui-disabled)": { color: "var(--fo-palette-text-primary)" },
  "&.MuiButton-contained:not(.Mui-disabled)": { color: "#000" },
}) as typeof MuiButton;
