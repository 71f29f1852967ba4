import { z } from 'zod';
import { type EventName, events } from '#platform/events.ts';
import { textsOf } from '#platform/languages.ts';

/** Events that a chat format can report. */
export type Reported = Exclude<EventName, `cast.${string}`>;
const reported = (Object.keys(events) as EventName[]).filter((name): name is Reported => events[name].webhook);

/** Events with a counted sentence, by the number that it needs. */
export const counting = { 'library.scan.progress': 'done', 'library.scan.completed': 'added' } as const;
type Counting = keyof typeof counting;
export const counts = (name: EventName): name is Counting => Object.hasOwn(counting, name);

export const ChatTexts = z.strictObject({
  /** Replaces names that are hidden from the owner of the webhook. */
  unnamed: z.strictObject({ person: z.string(), item: z.string(), library: z.string(), storage: z.string() }),
  /** Sentences with placeholders such as `{person}`. Names are never inflected. */
  sentences: z.record(z.enum(reported), z.string()),
  /** Used instead when the number is known: `{done}` of `{total}`, or `{added}`. */
  counted: z.record(z.enum(Object.keys(counting) as Counting[]), z.string()),
});

export type ChatLanguage = z.output<typeof ChatTexts>;

/** Texts by BCP 47 tag, in English for a language without texts. */
export const chatLanguage = textsOf('chat', ChatTexts);
