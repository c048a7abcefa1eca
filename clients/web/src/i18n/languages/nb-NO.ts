export { default } from "../../texts/nb-NO/core.json";
