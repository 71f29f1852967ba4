import { z } from 'zod';
import { type EventName, events } from '#platform/events.ts';
import { textsOf } from '#platform/languages.ts';

/** Events that a chat room may be told of. */
export type Said = Exclude<EventName, `cast.${string}`>;
const said = (Object.keys(events) as EventName[]).filter((name): name is Said => events[name].webhook);

/** Sentences that can count, by the number that they need. */
export const counting = { 'library.scan.progress': 'done', 'library.scan.completed': 'added' } as const;
type Counting = keyof typeof counting;
export const counts = (name: EventName): name is Counting => Object.hasOwn(counting, name);

export const ChatTexts = z.strictObject({
  /** Stands for what the webhook's owner does not see. */
  unnamed: z.strictObject({ person: z.string(), item: z.string(), library: z.string(), storage: z.string() }),
  /** `{person}` and others are filled in. No name is inflected: nobody knows what it is. */
  sentences: z.record(z.enum(said), z.string()),
  /** Said instead where the number is known: `{done}` of `{total}`, or `{added}`. */
  counted: z.record(z.enum(Object.keys(counting) as Counting[]), z.string()),
});

export type ChatLanguage = z.output<typeof ChatTexts>;

/** By a BCP 47 tag; English where there is no other. */
export const chatLanguage = textsOf('chat', ChatTexts);
