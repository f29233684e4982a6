/*
 * Shows in Evennia's web client which characters are thinking about an answer.
 *
 * From Evennia 6.1 on its own plugin draws the list of who is typing, and all this one does is to
 * tell the game that it is there. Before, this one draws the list.
 */
(function () {
    "use strict";

    if (!window.plugin_handler) {
        return;
    }
    const drawnByEvennia = typeof is_typing !== "undefined";
    // The game repeats itself every few seconds: who is not named again is forgotten.
    const FORGET_AFTER_MS = 10000;
    const timers = new Map(); // name -> the timer that forgets it

    const box = $("<div>", { id: "ai-typing", role: "status", "aria-live": "polite" }).css({
        position: "fixed",
        right: "1.7rem",
        bottom: "4.5rem",
        marginBottom: "-1.7rem",
        zIndex: 5,
        maxWidth: "40%",
        maxHeight: "30vh",
        overflowY: "auto",
        padding: ".3rem .6rem",
        color: "#fff",
        backgroundColor: "rgba(0, 0, 0, .75)",
        borderRadius: ".35rem",
        fontSize: ".85rem",
        lineHeight: 1.35,
        whiteSpace: "nowrap",
        display: "none",
    });

    // In the upper corner of the input field, wherever the player has dragged it: as in Evennia 6.1.
    function place() {
        const input = $(".inputfieldwrapper:visible, .inputfield:visible, #inputfield:visible");
        if (input.length) {
            const top = input.last()[0].getBoundingClientRect().top;
            box.css("bottom", Math.round(window.innerHeight - top) + "px");
        }
    }

    function draw() {
        box.empty();
        timers.forEach((timer, name) => box.append($("<div>").text(name + " is typing…")));
        box.toggle(timers.size > 0);
        place();
    }

    function forget(name) {
        clearTimeout(timers.get(name));
        timers.delete(name);
        draw();
    }

    function onTyping(args, kwargs) {
        const name = String(kwargs.name);
        clearTimeout(timers.get(name));
        timers.delete(name);
        if (kwargs.state) {
            timers.set(name, setTimeout(() => forget(name), FORGET_AFTER_MS));
        }
        draw();
    }

    window.plugin_handler.add("ai_typing", {
        init() {
            if (!drawnByEvennia) {
                $("body").append(box);
                $(window).on("resize", place);
                Evennia.emitter.on("ai_typing", onTyping);
            }
        },
        onLoggedIn() {
            const shows = drawnByEvennia ? "is_typing" : "ai_typing";
            Evennia.msg("ai_typing_setup", [], { shows: shows });
        },
        onConnectionClose() {
            Array.from(timers.keys()).forEach(forget);
        },
    });
})();
