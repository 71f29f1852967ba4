import { expect } from 'chai';
import { isTimed, mediaType } from '#areas/streaming/files/media-types.ts';
import { kindOf } from '#workers/scan/names/kinds.ts';

/** Endings of films, as players and recorders write them. */
const FILMS = [
  ...['mkv', 'mp4', 'm4v', 'mov', 'avi', 'webm', 'ts', 'm2ts', 'mts', 'mpg', 'mpeg', 'mpe', 'm2v', 'vob', 'wmv', 'asf'],
  ...['flv', 'f4v', 'ogv', 'ogm', 'divx', '3gp', '3g2', 'rm', 'rmvb', 'mk3d', 'dv', 'wtv', 'mxf'],
];

describe('types of media files', () => {
  it('know every film that a scan takes: it is a stream, and no download of unknown bytes', () => {
    for (const ending of FILMS) {
      const name = `film.${ending.toUpperCase()}`;
      expect(kindOf(name), name).to.equal('video');
      expect(mediaType(name), name).to.match(/^video\//);
      expect(isTimed(name), name).to.equal(true);
    }
  });

  it('name nothing that may hold script', () => {
    for (const name of ['a.svg', 'a.html', 'a.xml', 'a']) expect(mediaType(name)).to.equal('application/octet-stream');
  });
});
