export { default } from "../../texts/es-ES/core.json";
