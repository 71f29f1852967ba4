// Where the plane of a picture subtitle lies over the film.

export interface Size {
  width: number;
  height: number;
}

/** Discs in SD have pixels that are no squares: their plane has the shape of the picture, whatever its numbers say. */
const SD_WIDTH = 720;

/** The size of a plane that is in the middle of the stage, above a picture there. */
export function planeSize(plane: Size, picture: Size, stage: Size): Size {
  if (plane.width <= SD_WIDTH) return picture;
  // A film without its black bars is smaller than its plane, which covers it; no part of a plane leaves the stage.
  const over = Math.max(picture.width / plane.width, picture.height / plane.height);
  const scale = Math.min(over, stage.width / plane.width, stage.height / plane.height);
  return { width: plane.width * scale, height: plane.height * scale };
}

/** A picture of this shape as large as the stage allows. */
export function pictureSize(shape: Size, stage: Size): Size {
  const ratio = shape.width > 0 && shape.height > 0 ? shape.width / shape.height : 16 / 9;
  const height = Math.min(stage.height, stage.width / ratio);
  return { width: height * ratio, height };
}
