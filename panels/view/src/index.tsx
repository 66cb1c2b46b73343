import { register } from "./app";
import { unsent } from "./desk/desk";
import { Sample } from "./sample";
import { Workbench } from "./shell";

register("KalosRaters", "Raters", Workbench);
register("KalosSample", "Raters on this sample", Sample);

/** The browser asks before it leaves decisions behind that are not stored. */
window.addEventListener("beforeunload", (event) => {
  if (unsent()) event.preventDefault();
});
