// Whether the service can be reached, by each answer and each connection that is refused, and whether somebody waits for it.
import { signal } from "@preact/signals";
import { retryingFetch, type Send } from "contacts-client";

// Somebody in front of a screen would rather be told than wait: the sync goes on trying.
const ATTEMPTS_OF_A_PAGE = 3;
const SHOWN_AFTER_MILLISECONDS = 300;

// From the first refused connection to the next answer. The browser may think that there is a network all the same.
export const isUnreachable = signal(false);
export const isWaiting = signal(false);
let waiting = 0;

const watched: Send = async (request) => {
  try {
    const response = await fetch(request);
    isUnreachable.value = false;
    return response;
  } catch (error) {
    if (!request.signal.aborted) isUnreachable.value = true;
    throw error;
  }
};

// For the sync, which nobody waits for.
export const sendInBackground: Send = retryingFetch(watched);

const sendOfPage = retryingFetch(watched, ATTEMPTS_OF_A_PAGE);

// For what a page asks and sends.
export const sendWhileWaiting: Send = async (request) => {
  let isShown = false;
  const timer = setTimeout(() => {
    isShown = true;
    isWaiting.value = ++waiting > 0;
  }, SHOWN_AFTER_MILLISECONDS);
  try {
    return await sendOfPage(request);
  } finally {
    clearTimeout(timer);
    if (isShown) isWaiting.value = --waiting > 0;
  }
};
