// The uploads of this tab, which go on while other pages are open.
import { api } from '#core/api/client.ts';
import { newId } from '#core/api/ids.ts';
import { workerHasher } from '#core/uploads/hasher.ts';
import { type Sending, UploadQueue } from '#core/uploads/queue.ts';

let all = $state.raw<readonly Sending[]>([]);

const queue = new UploadQueue({
  api,
  newId,
  hasher: workerHasher(),
  sleep: (ms) => new Promise((done) => setTimeout(done, ms)),
  changed: (next) => (all = next),
});

export const uploads = {
  get all(): readonly Sending[] {
    return all;
  },
  add: (files: readonly File[], libraryId: string): void => queue.add(files, libraryId),
  cancel: (id: string): Promise<void> => queue.cancel(id),
  clear: (): void => queue.clear(),
};
