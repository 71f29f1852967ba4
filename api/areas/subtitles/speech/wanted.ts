import type { StreamRow } from '#areas/items/public.ts';
import type { Film } from './films.view.ts';
import { heardAs, isSameLanguage } from './languages.ts';
import type { ModelRow } from './models.store.ts';
import type { NewRequest } from './requests.store.ts';
import type { Task } from './speech.schemas.ts';

/** Item types whose speech is heard; recordings and video lessons count as videos. */
export const HEARD_TYPES: readonly string[] = ['movie', 'episode', 'video', 'recording', 'lesson'];

export interface TrackOptions {
  audioStreamId?: string | undefined;
  /** Code of the model. */
  language?: string | undefined;
  task: Task;
  model: Pick<ModelRow, 'name' | 'languages'>;
}

/** The soundtrack to hear: the named one, or the default one. */
export function soundtrackOf({ streams }: Film, audioStreamId: string | undefined): StreamRow | undefined {
  const sounds = streams.filter(({ kind, external_path: path }) => kind === 'audio' && path === null);
  if (audioStreamId) return sounds.find(({ id }) => id === audioStreamId);
  return sounds.find((stream) => stream.is_default) ?? sounds[0];
}

/** The request for a soundtrack. Its language is the named one, else that of the soundtrack, else `auto`. */
export function requestFor(film: Film, sound: StreamRow, { language, task, model }: TrackOptions): NewRequest {
  const tagged = heardAs(sound.language, model.languages);
  const spoken = language ?? tagged;
  const spokenBy = language ? 'person' : tagged ? 'soundtrack' : 'heard';
  return {
    ...{ itemId: film.itemId, libraryId: film.libraryId, fileId: film.fileId, durationMs: film.durationMs },
    audio: { id: sound.id, index: sound.stream_index },
    ...{ task, model: model.name, spoken, spokenBy },
    language: task === 'translate' ? 'en' : (spoken ?? 'auto'),
  };
}

/** The stream of the same text that the same model already made. */
export function alreadyMade(film: Film, wanted: NewRequest): string | undefined {
  const languages = new Map(film.streams.map((row) => [row.id, row.language]));
  const same = film.made.find(
    ({ streamId, task, model, heardIndex }) =>
      task === wanted.task &&
      model === wanted.model &&
      (isSameLanguage(languages.get(streamId), wanted.language) ||
        (wanted.language === 'auto' && heardIndex === wanted.audio.index)),
  );
  return same?.streamId;
}

/** The stream of a text in that language that a person made: in the film, in a file next to it, or fetched, and not forced. */
export function personMade(film: Film, { language }: NewRequest): string | undefined {
  const made = new Set(film.made.map(({ streamId }) => streamId));
  return film.streams.find(
    (row) => row.kind === 'subtitle' && !row.forced && !made.has(row.id) && isSameLanguage(row.language, language),
  )?.id;
}
