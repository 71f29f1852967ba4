// The files that ffmpeg may open: the given one, by the probed demuxer, and none that it names.
import { execFile } from 'node:child_process';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { expect } from 'chai';
import { temporaryFolder } from '#support/stores.ts';
import { guardsOf, textGuards } from '#workers/transcode/command.ts';

const CONTAINERS = [
  'matroska',
  'webm',
  'mp4',
  'mpegts',
  'mpegps',
  'avi',
  'asf',
  'flv',
  'ogg',
  'flac',
  'mp3',
  'aac',
  'wav',
];

describe('the guards of ffmpeg', () => {
  const folder = temporaryFolder('guards');
  const sound = join(folder, 'sound.wav');
  before(async () => {
    const made = ['-v', 'error', '-f', 'lavfi', '-i', 'sine=duration=1', sound];
    await promisify(execFile)('ffmpeg', made);
  });

  const opens = async (guards: string[], file: string): Promise<string> => {
    const args = ['-v', 'error', '-nostdin', ...guards, '-i', `file:${file}`, '-f', 'null', '-'];
    return promisify(execFile)('ffmpeg', args).then(
      () => 'opened',
      ({ stderr }: { stderr: string }) => stderr,
    );
  };

  it('let a file be read only as its probed format', async () => {
    expect(await opens(guardsOf('wav', sound), sound)).to.equal('opened');
  });

  it('let no list of other files be opened, under any container name', async () => {
    const lists = {
      hls: `#EXTM3U\n#EXT-X-TARGETDURATION:1\n#EXTINF:1,\n${sound}\n#EXT-X-ENDLIST\n`,
      concat: `ffconcat version 1.0\nfile sound.wav\n`,
      dash: `<MPD xmlns="urn:mpeg:dash:schema:mpd:2011"></MPD>`,
    };
    for (const [name, text] of Object.entries(lists)) {
      const file = join(folder, `${name}.mkv`);
      writeFileSync(file, text);
      for (const container of [...CONTAINERS, 'an unknown format'])
        expect(await opens(guardsOf(container, file), file), `${name} as ${container}`).to.not.equal('opened');
      expect(await opens(textGuards('srt'), file), `${name} as text`).to.match(/whitelist|Invalid data/);
    }
  });

  it('name the one demuxer of each container that is played, and a whitelist with it', () => {
    for (const container of CONTAINERS) {
      const guards = guardsOf(container, '/a');
      const [whitelist, demuxer] = [guards[guards.indexOf('-format_whitelist') + 1], guards[guards.indexOf('-f') + 1]];
      expect([container, demuxer]).to.deep.equal([container, whitelist]);
      expect(guards).to.include('-protocol_whitelist').and.include('-codec_whitelist');
    }
  });
});
