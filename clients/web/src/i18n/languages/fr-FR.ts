export { default } from "../../texts/fr-FR/core.json";
