// sharp alone, at the priority of the parser's processes: makes one size of each picture of a list, two at once, whenever a
// line with a quality arrives, and prints the milliseconds.
import { readFile } from 'node:fs/promises';
import { createInterface } from 'node:readline';
import sharp from 'sharp';

const AT_ONCE = 2;
const files = process.argv.slice(2);
sharp.concurrency(1);
sharp.cache(false);

async function make(quality: number): Promise<number> {
  const began = performance.now();
  const left = [...files];
  const next = async (): Promise<void> => {
    for (let file = left.shift(); file !== undefined; file = left.shift()) {
      const picture = sharp(await readFile(file))
        .autoOrient()
        .resize(320, 480, { fit: 'fill' })
        .toColourspace('srgb');
      await picture.webp({ quality, effort: 4 }).toBuffer();
    }
  };
  await Promise.all(Array.from({ length: AT_ONCE }, next));
  return performance.now() - began;
}

for await (const line of createInterface({ input: process.stdin }))
  process.stdout.write(`${await make(Number(line))}\n`);
