// Items go to the trash with their files left in place; those who manage the library take them back.
import { api } from '#core/api/client.ts';
import { problemOf } from '#core/api/errors.ts';
import { invalidate } from '#core/cache/query.ts';
import * as m from '#messages/editing.ts';
import { failureText } from '#ui/failure-text.ts';
import { toast } from '#ui/toasts.svelte.ts';
import { edited } from './editing.ts';

/** After items left a library or came back, every answer that lists or counts them is old. */
export function moved(): void {
  edited();
  for (const name of ['listLibraries', 'getLibrary', 'listItemChildren'] as const) void invalidate(name);
}

interface Trashed {
  libraryId: string;
  itemIds: readonly string[];
  /** The text that says that they are back. */
  restored: string;
}

const MOST = 200;

/** Brings items back, and says so. */
export async function restore({ libraryId, itemIds, restored }: Trashed): Promise<void> {
  try {
    let back = 0;
    for (let at = 0; at < itemIds.length; at += MOST) {
      const answer = await api.restoreTrash({
        params: { id: libraryId },
        body: { itemIds: itemIds.slice(at, at + MOST) },
      });
      back += answer.restored + answer.missing;
    }
    moved();
    toast.show({ text: back > 0 ? restored : m.notRestored() });
  } catch (error) {
    toast.show({ text: m.notSaved({ reason: failureText(problemOf(error)).title }) });
  }
}

export const undoTrash = (trashed: Trashed) => ({ label: m.undo(), run: () => void restore(trashed) });
