/*
 * Evennia's font plugin loads the fonts it offers from elsewhere at every start. Here only what
 * comes from this site is loaded; the other fonts show where the player has them installed.
 */
(function () {
    "use strict";

    if (typeof font_plugin === "undefined" || typeof font_plugin.init !== "function") {
        return;
    }
    const originOf = (link) => new URL(link.getAttribute("href"), location.href).origin;
    const init = font_plugin.init;

    font_plugin.init = function () {
        const append = $.fn.append;
        $.fn.append = function (...things) {
            const kept = things.filter((thing) => {
                const link = thing && thing[0];
                return !(link && link.tagName === "LINK" && originOf(link) !== location.origin);
            });
            return append.apply(this, kept);
        };
        try {
            return init.apply(this, arguments);
        } finally {
            $.fn.append = append;
        }
    };
})();
