// Web worker that matches regular expressions. Loaded with the first one.
import { type Question, answerOf } from "./find.ts";

onmessage = ({ data }: MessageEvent<Question>) => postMessage(answerOf(data));
postMessage({ ready: true });
