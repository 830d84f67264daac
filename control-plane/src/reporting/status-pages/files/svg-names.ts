const words = (text: string): ReadonlySet<string> => new Set(text.split(/\s+/).filter((word) => word !== ''));

/** Elements that draw, or say how others are drawn. None of them runs, animates, links or loads anything. */
export const drawingElements = words(`
  svg g defs symbol use path rect circle ellipse line polyline polygon text tspan title desc
  linearGradient radialGradient stop clipPath mask pattern marker`);

/** Elements that say nothing of the picture: left out. */
export const leftOutElements = words('metadata');

/** Where text is part of the picture. */
export const textElements = words('text tspan title desc');

/** Contents that are drawn again wherever they are referred to. */
export const repeatedElements = words('pattern mask marker clipPath symbol');

export const gradientElements = words('linearGradient radialGradient');

/** How a shape is painted: as attributes, or in the attribute `style`. */
export const paintAttributes = words(`
  fill fill-opacity fill-rule stroke stroke-width stroke-opacity stroke-linecap stroke-linejoin stroke-miterlimit stroke-dasharray
  stroke-dashoffset opacity color clip-path clip-rule mask marker-start marker-mid marker-end stop-color stop-opacity paint-order
  vector-effect shape-rendering text-rendering color-interpolation display visibility overflow mix-blend-mode isolation
  font-family font-size font-weight font-style font-variant font-stretch letter-spacing word-spacing text-anchor text-decoration
  dominant-baseline alignment-baseline baseline-shift writing-mode direction`);

/** Where and how large things are. */
export const geometryAttributes = words(`
  id x y x1 y1 x2 y2 cx cy r rx ry fx fy fr width height viewBox preserveAspectRatio d points transform dx dy rotate textLength
  lengthAdjust pathLength offset gradientUnits gradientTransform spreadMethod clipPathUnits maskUnits maskContentUnits mask-type
  patternUnits patternContentUnits patternTransform markerUnits markerWidth markerHeight refX refY orient`);

/** Attributes that change nothing of the picture where there is no style sheet and no script: left out. */
export const leftOutAttributes =
  /^(class|role|version|baseProfile|focusable|enable-background|tabindex|lang|data-[\w.-]+|aria-[\w-]+)$/;
