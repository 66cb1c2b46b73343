import { register } from "./app";
import { unsent } from "./desk/desk";
import { Sample } from "./sample";
import { Workbench } from "./shell";

register("KalosRaters", "Raters", Workbench);
register("KalosSample", "Raters on this sample", Sample);

/** Let the browser ask before it closes the page with unsaved decisions. */
window.addEventListener("beforeunload", (event) => {
  if (unsent()) event.preventDefault();
});
