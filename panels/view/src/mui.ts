/** All imports from MUI, which has FiftyOne's theme in the App. */
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

/** Button with sufficient contrast: FiftyOne's orange on white is below the 4.5:1 of WCAG. */
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
