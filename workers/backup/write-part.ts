import { createHash } from 'node:crypto';
import { addAbortSignal, pipeline, Readable, Transform } from 'node:stream';
import { createZstdCompress } from 'node:zlib';
import { sealing } from '#platform/backup/sealing.ts';
import { type BackupPart, partName } from '#platform/backup-manifest.ts';
import type { Pace } from './pace.ts';
import type { Run } from './run.ts';

interface Measured extends Transform {
  bytes: number;
}

/** Counts the bytes that pass, at the given pace. */
export function counted(pace: Pace | undefined, each: (chunk: Buffer) => void = () => undefined): Measured {
  const meter = new Transform({
    transform(chunk: Buffer, _encoding, done) {
      meter.bytes += chunk.length;
      each(chunk);
      if (pace) void pace.take(chunk.length).then(() => done(null, chunk));
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

/** Compresses, seals and stores the rows; returns the manifest entry. */
export async function writePart(run: Run, { table, number, rows }: PartOf): Promise<BackupPart> {
  const { key, destination, row, pace, signal } = run;
  const name = `tables/${table}.${number}.copy.zst${key ? '.enc' : ''}`;
  const target = partName(row.id, { name });
  const hash = createHash('sha256');
  const plain = counted(undefined);
  const stored = counted(pace, (chunk) => hash.update(chunk));
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
    throw source.errored ?? fault ?? error; // the cause of the failed rows, not the store's reaction
  }
  return { name, sha256: hash.digest('hex'), storedBytes: stored.bytes, plainBytes: plain.bytes };
}
