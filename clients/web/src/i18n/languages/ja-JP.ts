export { default } from "../../texts/ja-JP/core.json";
