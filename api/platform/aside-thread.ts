/** The worker thread of `aside`: one call, one result. */
import { parentPort, workerData } from 'node:worker_threads';

const { module, name, given } = workerData as { module: string; name: string; given: unknown[] };
const { [name]: work } = (await import(module)) as Record<string, (...given: unknown[]) => unknown>;
parentPort?.postMessage(await work?.(...given));
