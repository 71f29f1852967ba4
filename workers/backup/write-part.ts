import { createHash } from 'node:crypto';
import { addAbortSignal, pipeline, Readable, Transform } from 'node:stream';
import { setTimeout as sleep } from 'node:timers/promises';
import { createZstdCompress } from 'node:zlib';
import { sealing } from '#platform/backup/sealing.ts';
import { type BackupPart, partName } from '#platform/backup-manifest.ts';
import type { Run } from './run.ts';

interface Measured extends Transform {
  bytes: number;
}

/** Counts what passes, and lets no more of it pass in a second than the settings say. */
export function counted(perSecond: number | null, each: (chunk: Buffer) => void = () => undefined): Measured {
  const began = performance.now();
  const meter = new Transform({
    transform(chunk: Buffer, _encoding, done) {
      meter.bytes += chunk.length;
      each(chunk);
      const early = perSecond === null ? 0 : (meter.bytes / perSecond) * 1000 - (performance.now() - began);
      if (early > 10) void sleep(early).then(() => done(null, chunk));
      else done(null, chunk);
    },
  }) as Measured;
  meter.bytes = 0;
  return meter;
}

export interface PartOf {
  table: string;
  number: number;
  rows: AsyncIterable<Buffer>;
}

/** Packs, seals and stores the rows; what is told of them goes into the manifest. */
export async function writePart(run: Run, { table, number, rows }: PartOf): Promise<BackupPart> {
  const { key, destination, row, maxBytesPerSecond, signal } = run;
  const name = `tables/${table}.${number}.copy.zst${key ? '.enc' : ''}`;
  const target = partName(row.id, { name });
  const hash = createHash('sha256');
  const plain = counted(null);
  const stored = counted(maxBytesPerSecond, (chunk) => hash.update(chunk));
  const seal = key ? [sealing(key, target)] : [];
  const source = addAbortSignal(signal, Readable.from(rows, { objectMode: false }));
  let fault: Error | undefined;
  const body = pipeline([source, plain, createZstdCompress(), ...seal, stored], (error) => {
    fault = error ?? undefined;
  }) as unknown as Readable;
  try {
    await destination.write(target, body);
  } catch (error) {
    body.destroy();
    throw source.errored ?? fault ?? error; // what broke the rows, not what the store made of it
  }
  return { name, sha256: hash.digest('hex'), storedBytes: stored.bytes, plainBytes: plain.bytes };
}
