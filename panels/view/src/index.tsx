import { register } from "./app";
import { Workbench } from "./shell";

register("KalosRaters", "Raters", Workbench);
