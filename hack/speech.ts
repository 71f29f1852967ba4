// `node hack/speech.ts [-f FILE_OR_DIR]...` prints `yes` when these resources declare spec.subtitles, so that hack/start installs the
// Python parts. Invalid files are reported by the operator.
import { resolve } from 'node:path';
import { Source } from '#operator/local/source.ts';

const source = new Source(
  process.argv
    .slice(2)
    .filter((word) => word !== '-f')
    .map((file) => resolve(file)),
);
source.read(new Map());
if (source.resources?.servers.some(({ spec }) => spec.subtitles)) process.stdout.write('yes');
