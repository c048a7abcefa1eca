export { default } from "../../texts/de-DE/core.json";
